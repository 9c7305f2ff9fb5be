// Keep the live sections of a page up to date: <section data-live="address">.
// The stream only hints; what is shown is fetched whole. Polling alone is enough to be right.
import { morph } from "./morph.js";

const POLL_MS = 10_000;
const STALE_MS = 25_000;
const FETCH_MS = 12_000;
const QUIET_MS = 4_000; // without a stream for so long: polling

const sections = [...document.querySelectorAll("[data-live]")].map((element) => ({
  element,
  address: element.dataset.live,
  tag: null,
  version: null,
  freshAt: null, // performance.now() of when the database was asked
  isBusy: false,
  isDue: false,
}));
const badge = document.querySelector("[data-liveness]");
let source = null;
let heardAt = -Infinity;
let isListening = false;
let hasEnded = false;

function isNewer(version, shown) {
  if (!version || !shown) return true;
  const [boot, number] = version.split(".");
  const [shownBoot, shownNumber] = shown.split(".");
  return boot !== shownBoot || Number(number) >= Number(shownNumber);
}

async function refresh(section) {
  if (hasEnded || document.hidden) return;
  if (section.isBusy) {
    section.isDue = true;
    return;
  }
  section.isBusy = true;
  section.isDue = false;
  try {
    const headers = { "X-Forebay-Live": "1", Accept: "text/html" };
    if (section.tag) headers["If-None-Match"] = section.tag;
    const signal = AbortSignal.timeout(FETCH_MS);
    const answer = await fetch(section.address, { headers, signal, cache: "no-store" });
    if (answer.status === 401) return end();
    const version = answer.headers.get("X-Forebay-Version");
    if (answer.status === 403 || answer.status === 404) {
      show(section, await answer.text());
      section.tag = null;
    } else if (version && isNewer(version, section.version)) {
      if (answer.status === 200) show(section, await answer.text());
      section.tag = answer.headers.get("ETag");
      section.version = version;
      section.freshAt = performance.now() - 1000 * Number(answer.headers.get("X-Forebay-Age"));
    }
  } catch {
    // shown as stale when it lasts
  } finally {
    section.isBusy = false;
    indicate();
    if (section.isDue) refresh(section);
  }
}

function show(section, html) {
  const fresh = document.createElement("div");
  fresh.innerHTML = html;
  morph(section.element, fresh);
  section.element.dispatchEvent(new CustomEvent("forebay:swapped", { bubbles: true }));
}

function refreshAll() {
  sections.forEach(refresh);
}

function connect() {
  if (source || hasEnded || document.hidden) return;
  source = new EventSource("/events");
  source.addEventListener("open", () => {
    heardAt = performance.now();
    refreshAll();
  });
  source.addEventListener("hint", (event) => {
    const said = hear(event);
    for (const section of sections) {
      if (!section.version || isNewer(said.version, section.version)) refresh(section);
    }
  });
  source.addEventListener("ping", hear);
  source.addEventListener("error", () => {
    if (source && source.readyState === EventSource.CLOSED) {
      disconnect();
      setTimeout(connect, 5_000 + 5_000 * Math.random());
    }
    indicate();
  });
}

function hear(event) {
  const said = JSON.parse(event.data);
  heardAt = performance.now();
  isListening = said.is_listening;
  indicate();
  return said;
}

function disconnect() {
  source?.close();
  source = null;
}

function end() {
  hasEnded = true;
  disconnect();
  const notice = document.createElement("p");
  notice.className = "note";
  notice.setAttribute("role", "alert");
  notice.append("Your session has ended: what you see is no longer kept up to date. ");
  const link = document.createElement("a");
  link.href = "/login?next=" + encodeURIComponent(location.pathname + location.search);
  link.textContent = "Log in again";
  notice.append(link);
  document.querySelector("main").prepend(notice);
  indicate();
}

function indicate() {
  if (!badge || !sections.length) return;
  const now = performance.now();
  const oldest = Math.min(...sections.map((section) => section.freshAt ?? -Infinity));
  const age = now - oldest;
  const hasStream = source?.readyState === EventSource.OPEN || now - heardAt < QUIET_MS;
  let state = hasStream && isListening ? "live" : "polling";
  if (age > STALE_MS) state = "stale";
  if (hasEnded) state = "ended";
  badge.hidden = false;
  badge.dataset.state = state;
  const said = Number.isFinite(age) ? ` · ${Math.max(0, Math.round(age / 1000))} s old` : "";
  badge.textContent = state === "ended" ? "session ended" : state + said;
}

function age() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[datetime]")) {
    const words = ago(now - Date.parse(time.dateTime));
    if (words && time.textContent !== words) time.textContent = words;
  }
}

function ago(ms) {
  if (!Number.isFinite(ms)) return null;
  const seconds = Math.round(Math.abs(ms) / 1000);
  if (seconds < 1) return "now";
  const [unit, size, smaller, smallerSize] =
    seconds >= 86400 ? ["d", 86400, "h", 3600] :
    seconds >= 3600 ? ["h", 3600, "m", 60] :
    seconds >= 60 ? ["m", 60, "s", 1] : ["s", 1, "", 1];
  const rest = smaller && Math.floor((seconds % size) / smallerSize);
  const words = `${Math.floor(seconds / size)} ${unit}` + (rest ? ` ${rest} ${smaller}` : "");
  return ms >= 0 ? `${words} ago` : `in ${words}`;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    disconnect();
  } else {
    connect();
    refreshAll();
    age();
  }
});

if (sections.length) {
  connect();
  setInterval(refreshAll, POLL_MS);
}
setInterval(() => {
  if (document.hidden) return;
  indicate();
  age();
}, 1000);
