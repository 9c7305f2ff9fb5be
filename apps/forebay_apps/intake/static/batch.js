// What a batch's page does by itself: copy its link, and tell when all of it is done.

const POLL_MS = 15_000;

const head = document.querySelector("[data-batch]");
const batch = head.dataset.batch;
const notify = head.querySelector("[data-notify]");
const copy = head.querySelector("[data-copy]");
const said = document.querySelector("[data-said]");
let isWanted = false;

function outlook() {
  return document.querySelector("[data-done]")?.dataset;
}

function isDone() {
  return outlook()?.done === "yes";
}

function show() {
  notify.hidden = !("Notification" in window) || isDone();
  notify.setAttribute("aria-pressed", String(isWanted));
  notify.textContent = isWanted ? "Will notify you" : "Notify me when done";
}

function tell(words) {
  isWanted = false;
  said.textContent = `Done. ${words}`;
  const note = new Notification("Your batch is done", { body: words, tag: `forebay-${batch}` });
  note.onclick = () => {
    window.focus();
    note.close();
  };
  show();
}

notify.addEventListener("click", async () => {
  if (isWanted) {
    isWanted = false;
  } else {
    isWanted = (await Notification.requestPermission()) === "granted";
    if (!isWanted) said.textContent = "The browser does not allow notifications of this page.";
  }
  show();
});

copy.addEventListener("click", async () => {
  await navigator.clipboard.writeText(location.origin + location.pathname);
  copy.textContent = "Copied";
  said.textContent = "The link is copied.";
  setTimeout(() => {
    copy.textContent = "Copy link";
  }, 2000);
});

document.addEventListener("forebay:swapped", () => {
  if (isWanted && isDone()) tell(outlook().words);
  show();
});

// A page in the background is not kept up to date: this alone is asked for there.
setInterval(async () => {
  if (!isWanted || !document.hidden) return;
  try {
    const answer = await fetch(`/batches/${batch}/state`, { headers: { Accept: "application/json" } });
    const state = await answer.json();
    if (isWanted && state.is_done) tell(state.words);
  } catch {
    // asked again in a moment
  }
}, POLL_MS);

copy.hidden = !navigator.clipboard;
show();
