// Takes PDFs that are dropped or picked, sends three at a time, and shows how far each is.

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

function fromInput(input) {
  const files = [...input.files].map((file) => ({
    file,
    name: file.webkitRelativePath || file.name,
  }));
  input.value = "";
  take(files);
}

/** Takes what is no PDF by its name out of a folder: nobody has picked it one by one. */
function take(files) {
  const isOfFolder = ({ name }) => name.includes("/");
  const left = files.filter((each) => isOfFolder(each) && !/\.pdf$/i.test(each.name));
  add(files.filter((each) => !left.includes(each)));
  const names = left.slice(0, 3).map(({ name }) => name.split("/").pop());
  const more = left.length > 3 ? ` and ${left.length - 3} more` : "";
  leftOut.textContent = `Left out, as they are not named .pdf: ${names.join(", ")}${more}.`;
  leftOut.hidden = !left.length;
}

async function fromDrop(items) {
  const found = [];
  const dropped = [...items].filter(({ kind }) => kind === "file");
  // Both are asked for at once: after the first wait the browser has forgotten what was dropped.
  const each = dropped.map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  for (const { entry, file } of each) {
    if (entry) await walk(entry, found);
    else if (file) found.push({ file, name: file.name });
  }
  take(found);
}

async function walk(entry, found) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    found.push({ file, name: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const each of some) await walk(each, found);
  }
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
    fetch(`${form.dataset.uploads}/${entry.id}`, { method: "DELETE", keepalive: true }).catch(
      () => {}, // what is never submitted is removed by its age
    );
  }
  const next = entry.row.nextElementSibling ?? entry.row.previousElementSibling;
  entry.row.remove();
  (next?.querySelector("[data-remove]") ?? form.querySelector("[data-pick]")).focus();
  changed();
}

// ---- showing -----------------------------------------------------------------------------------

function newRow({ id, name, size }) {
  const row = rowOf.content.firstElementChild.cloneNode(true);
  row.dataset.id = id;
  row.querySelector("[data-name-text]").textContent = name;
  row.querySelector("[data-size-text]").textContent = inBytes(size);
  row.querySelector("progress").setAttribute("aria-label", `Upload of ${name}`);
  row.querySelector("[data-remove]").setAttribute("aria-label", `Remove ${name}`);
  row.querySelector("[data-again]").setAttribute("aria-label", `Try ${name} again`);
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

function inBytes(size) {
  const units = ["B", "kB", "MB", "GB"];
  let amount = size;
  while (amount >= 999.5 && units.length > 1) {
    amount /= 1000;
    units.shift();
  }
  return `${amount >= 9.95 || units[0] === "B" ? Math.round(amount) : amount.toFixed(1)} ${units[0]}`;
}

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

/** Half a surrogate pair in a name is no text that can be sent. */
function wellFormed(name) {
  return name.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
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
  input.addEventListener("change", () => fromInput(input));
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

let depth = 0;
const zone = form.querySelector("[data-drop]");
const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");

document.addEventListener("dragenter", (event) => {
  if (!carriesFiles(event)) return;
  depth += 1;
  zone.dataset.over = "";
});

document.addEventListener("dragleave", (event) => {
  if (!carriesFiles(event)) return;
  depth -= 1;
  if (depth <= 0) delete zone.dataset.over;
});

document.addEventListener("dragover", (event) => {
  if (carriesFiles(event)) event.preventDefault();
});

document.addEventListener("drop", (event) => {
  if (!carriesFiles(event)) return;
  event.preventDefault();
  depth = 0;
  delete zone.dataset.over;
  fromDrop(event.dataTransfer.items);
});

addEventListener("beforeunload", (event) => {
  if (of("queued", "sending", "checking").length) event.preventDefault();
});

addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload(); // what was submitted meanwhile is no longer here
});

changed();
