// Takes PDFs that are dropped or picked, sends three at a time, and shows how far each is.

import { acceptDrops, fromInput, inBytes, newId, parted, visible, wellFormed } from "./files.js";

const AT_ONCE = 3;
const TRIES = 3;
const WAITS = [1000, 4000];
const LATER =
  "The server or its database does not answer. Try again in a moment: nothing is lost, or sent twice.";
const AWAY = "The server does not answer, or the line broke off.";
const PASSING = new Set([0, 408, 429, 500, 502, 503, 504]);

const form = document.querySelector("[data-upload]");
const list = form.querySelector("[data-files]");
const rowOf = form.querySelector("template");
const button = form.querySelector("[data-submit]");
const problem = form.querySelector("[data-problem]");
const leftOut = form.querySelector("[data-left-out]");
const ids = form.elements.upload_ids;
const key = form.elements.submission_key;
const mostBytes = Number(form.dataset.mostBytes);

/** What is on the list, in its order: {id, name, size, file, state, row, …}. */
const entries = new Map();
const queue = [];
let sending = 0;
let isSubmitting = false;
let wasTried = false;

// ---- taking files ------------------------------------------------------------------------------

function add(files) {
  for (const { file, name } of files) {
    const entry = { id: newId(), name, size: file.size, file, tries: 0 };
    entry.row = newRow(entry);
    entries.set(entry.id, entry);
    list.append(entry.row);
    if (file.size > mostBytes) {
      refuse(entry, `The file has more than ${form.dataset.most}, which is the limit: split it.`);
    } else {
      set(entry, "queued", "Waiting");
      queue.push(entry);
    }
  }
  changed();
  sendNext();
}

function take(files) {
  const { taken, left } = parted(files);
  add(taken);
  const names = left.slice(0, 3).map(({ name }) => visible(name.split("/").pop(), "a file without a name"));
  const more = left.length > 3 ? ` and ${left.length - 3} more` : "";
  leftOut.textContent = `Left out, as they are not named .pdf: ${names.join(", ")}${more}.`;
  leftOut.hidden = !left.length;
}

// ---- sending -----------------------------------------------------------------------------------

function sendNext() {
  while (sending < AT_ONCE && queue.length) send(queue.shift());
}

function send(entry) {
  sending += 1;
  entry.tries += 1;
  const request = new XMLHttpRequest();
  entry.request = request;
  request.open("PUT", `${form.dataset.uploads}/${entry.id}`);
  request.setRequestHeader("Accept", "application/json");
  request.setRequestHeader("Content-Type", "application/pdf");
  request.setRequestHeader("X-Document-Name", encodeURIComponent(wellFormed(entry.name)));
  request.responseType = "json";
  set(entry, "sending", "0 %", 0);
  request.upload.onprogress = ({ loaded, total }) => {
    const share = total ? loaded / total : 0;
    set(entry, "sending", `${Math.floor(share * 100)} %`, share);
  };
  request.upload.onload = () => set(entry, "checking", "Checking", 1);
  request.onloadend = () => {
    sending -= 1;
    if (entries.has(entry.id)) answered(entry, request);
    changed();
    sendNext();
  };
  request.send(entry.file);
}

function answered(entry, { status, response }) {
  if (status === 200 || status === 201) {
    entry.file = null;
    set(entry, "ready", response.pages === 1 ? "1 page" : `${response.pages} pages`, 1);
  } else if (status === 401) {
    breakOff(entry, response?.error ?? AWAY);
  } else if (!PASSING.has(status)) {
    refuse(entry, response?.error ?? "The server refused it. Reload the page, and try again.");
  } else if (entry.tries < TRIES) {
    set(entry, "queued", "Trying again", 0);
    setTimeout(() => {
      if (!entries.has(entry.id)) return;
      queue.push(entry);
      sendNext();
    }, WAITS[entry.tries - 1]);
  } else {
    breakOff(entry, AWAY);
  }
}

function breakOff(entry, sentence) {
  set(entry, "broken", sentence, 0);
  list.prepend(entry.row);
}

function refuse(entry, sentence) {
  entry.file = null;
  set(entry, "refused", sentence);
  list.prepend(entry.row);
  changed();
}

function again(entry) {
  entry.tries = 0;
  set(entry, "queued", "Waiting", 0);
  queue.push(entry);
  changed();
  sendNext();
}

function remove(entry) {
  entries.delete(entry.id);
  if (queue.includes(entry)) queue.splice(queue.indexOf(entry), 1);
  entry.request?.abort();
  if (entry.state !== "refused") {
    giveUp(entry.id).catch(() => {}); // what is never submitted is removed by its age
  }
  const next = entry.row.nextElementSibling ?? entry.row.previousElementSibling;
  entry.row.remove();
  (next?.querySelector("[data-remove]") ?? form.querySelector("[data-pick]")).focus();
  changed();
}

async function giveUp(id) {
  const answer = await fetch(`${form.dataset.uploads}/${id}`, {
    method: "DELETE",
    headers: { Accept: "application/json" },
    keepalive: true,
  });
  if (answer.status === 403) say((await answer.json()).error);
}

// ---- showing -----------------------------------------------------------------------------------

function newRow({ id, name, size }) {
  const row = rowOf.content.firstElementChild.cloneNode(true);
  row.dataset.id = id;
  const shown = visible(name, `document ${entries.size + 1}`);
  row.querySelector("[data-name-text]").textContent = shown;
  row.querySelector("[data-size-text]").textContent = inBytes(size);
  row.querySelector("progress").setAttribute("aria-label", `Upload of ${shown}`);
  row.querySelector("[data-remove]").setAttribute("aria-label", `Remove ${shown}`);
  row.querySelector("[data-again]").setAttribute("aria-label", `Try ${shown} again`);
  return row;
}

function set(entry, state, words, share) {
  if (!entries.has(entry.id)) return;
  entry.state = state;
  entry.row.dataset.state = state;
  entry.row.querySelector("[data-words]").textContent = words;
  if (share !== undefined) entry.row.querySelector("progress").value = share;
  entry.share = share ?? 0;
  tell();
}

function changed() {
  if (wasTried) {
    key.value = newId(); // another set of documents is another batch
    wasTried = false;
  }
  ids.value = of("ready").map(({ id }) => id).join(" ");
  tell();
}

let isTold = true;

/** Brings the summary up to date, at most once a frame. */
function tell() {
  if (!isTold) return;
  isTold = false;
  requestAnimationFrame(() => {
    isTold = true;
    summarize();
  });
}

function summarize() {
  const ready = of("ready").length;
  const open = of("queued", "sending", "checking").length;
  const refused = of("refused").length;
  const broken = of("broken").length;
  const parts = [`${ready} ready`];
  if (open) parts.push(`${open} to go`);
  if (broken) parts.push(`${broken} broke off`);
  if (refused) parts.push(`${refused} refused`);
  form.querySelector("[data-list]").hidden = !entries.size;
  form.querySelector("[data-summary]").textContent = parts.join(" · ");
  form.querySelector("[data-drop-refused]").hidden = !refused;
  form.querySelector("[data-retry-broken]").hidden = !broken;
  const bar = form.querySelector("[data-total]");
  bar.hidden = !open;
  bar.max = Math.max(1, ready + open);
  bar.value = ready + of("sending", "checking").reduce((sum, { share }) => sum + share, 0);
  button.setAttribute("aria-disabled", String(!ready || open > 0 || isSubmitting));
  button.textContent = label(ready, open);
}

function label(ready, open) {
  if (isSubmitting) return "Submitting …";
  if (open) return `Uploading, ${open} to go …`;
  if (!ready) return "Submit";
  return ready === 1 ? "Submit 1 document" : `Submit ${ready} documents`;
}

function of(...states) {
  return [...entries.values()].filter(({ state }) => states.includes(state));
}

// ---- submitting --------------------------------------------------------------------------------

async function submit() {
  if (isSubmitting || button.getAttribute("aria-disabled") === "true") return;
  isSubmitting = true;
  wasTried = true;
  say("");
  tell();
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(new FormData(form)),
    });
    const said = await answer.json().catch(() => ({}));
    if (answer.ok) {
      entries.clear();
      location.assign(said.url);
      return;
    }
    say(PASSING.has(answer.status) ? LATER : said.error ?? LATER);
  } catch {
    say(LATER);
  }
  isSubmitting = false;
  tell();
}

function say(sentence) {
  problem.textContent = sentence;
  problem.hidden = !sentence;
  if (sentence) problem.scrollIntoView({ block: "nearest" });
}

// ---- beginning ---------------------------------------------------------------------------------

for (const row of list.children) {
  const { id, name, size } = row.dataset;
  entries.set(id, { id, name, size: Number(size), row, state: "ready", tries: 0, share: 1 });
}

for (const input of form.querySelectorAll("input[type=file]")) {
  input.addEventListener("change", () => take(fromInput(input)));
}

list.addEventListener("click", ({ target }) => {
  const entry = entries.get(target.closest("[data-id]")?.dataset.id);
  if (entry && target.closest("[data-remove]")) remove(entry);
  if (entry && target.closest("[data-again]")) again(entry);
});

form.querySelector("[data-drop-refused]").addEventListener("click", () => {
  for (const entry of of("refused")) remove(entry);
});

form.querySelector("[data-retry-broken]").addEventListener("click", () => {
  for (const entry of of("broken")) again(entry);
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});

acceptDrops(form.querySelector("[data-drop]"), take);

addEventListener("beforeunload", (event) => {
  if (of("queued", "sending", "checking").length) event.preventDefault();
});

addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload(); // what was submitted meanwhile is no longer here
});

changed();
