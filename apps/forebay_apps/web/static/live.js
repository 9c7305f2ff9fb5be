// Keep the live sections of a page up to date: <section data-live="address">.
//
// The stream only hints that something changed; what is shown is fetched whole, so that nothing
// depends on a hint that was lost. Data that is POLL_MS old is fetched again in any case.
import { morph } from "./morph.js";

const POLL_MS = 10_000;
const STALE_MS = 15_000; // older than that: a poll must have failed
const RETRY_MS = 5_000; // between tries of a section that fails
const FETCH_MS = 12_000;
const GAP_MS = 4_000; // a stream that is away for less is still live
const SILENCE_MS = 35_000; // the server says something every 15 s: this one is dead

const sections = [...document.querySelectorAll("[data-live]")].map((element) => ({
  element,
  version: element.dataset.version ?? null,
  tag: element.dataset.tag ?? null,
  freshAt: element.dataset.age ? performance.now() - 1000 * Number(element.dataset.age) : null,
  triedAt: -Infinity,
  isBusy: false,
  isDue: false, // something changed while it was being fetched
}));
const badge = document.querySelector("[data-liveness]");
const stream = { source: null, heardAt: -Infinity, lostAt: -Infinity, isListening: false };
let hasEnded = false; // the person is not logged in any more

// Versions look like boot.number; those of two server processes do not compare.
function isOlder(version, shown) {
  if (!version || !shown) return false;
  const [boot, number] = version.split(".");
  const [shownBoot, shownNumber] = shown.split(".");
  return boot === shownBoot && Number(number) < Number(shownNumber);
}

async function refresh(section) {
  if (hasEnded || document.hidden) return;
  if (section.isBusy) {
    section.isDue = true;
    return;
  }
  section.isBusy = true;
  section.isDue = false;
  section.triedAt = performance.now();
  try {
    await take(section, await ask(section));
  } catch {
    // no answer, or a broken one: it is tried again, and called stale meanwhile
  }
  section.isBusy = false;
  indicate();
  if (section.isDue) refresh(section);
}

function ask(section) {
  const headers = { "X-Forebay-Live": "1", Accept: "text/html" };
  if (section.tag) headers["If-None-Match"] = section.tag;
  const signal = AbortSignal.timeout(FETCH_MS);
  return fetch(section.element.dataset.live, { headers, signal, cache: "no-store", redirect: "error" });
}

async function take(section, answer) {
  if (answer.status === 401) {
    end();
  } else if (answer.status === 403 || answer.status === 404) {
    show(section, await answer.text());
    section.tag = null;
  } else if (answer.status === 200 || answer.status === 304) {
    const version = answer.headers.get("X-Forebay-Version");
    if (isOlder(version, section.version)) return;
    if (answer.status === 200) show(section, await answer.text());
    section.version = version;
    section.tag = answer.headers.get("ETag");
    section.freshAt = performance.now() - 1000 * Number(answer.headers.get("X-Forebay-Age"));
  }
}

function show(section, html) {
  const wanted = document.createElement("template");
  wanted.innerHTML = html;
  morph(section.element, wanted.content);
  section.element.dispatchEvent(new CustomEvent("forebay:swapped", { bubbles: true }));
}

function refreshAll() {
  sections.forEach(refresh);
}

function connect() {
  if (stream.source || hasEnded || document.hidden) return;
  const source = new EventSource("/events");
  stream.source = source;
  stream.heardAt = performance.now();
  source.addEventListener("open", () => {
    stream.heardAt = performance.now();
    refreshAll(); // what changed while nothing was heard
  });
  source.addEventListener("hint", (event) => {
    const { version } = hear(event);
    for (const section of sections) {
      if (!section.version || !isOlder(version, section.version)) refresh(section);
    }
  });
  source.addEventListener("ping", hear);
  source.addEventListener("error", () => {
    if (stream.lostAt < stream.heardAt) stream.lostAt = performance.now();
    if (source.readyState === EventSource.CLOSED) {
      // refused, not cut: the browser does not try again by itself
      disconnect();
      setTimeout(connect, POLL_MS * (0.5 + Math.random()));
    }
    indicate();
  });
}

function hear(event) {
  const said = JSON.parse(event.data);
  stream.heardAt = performance.now();
  stream.isListening = said.is_listening;
  indicate();
  return said;
}

function disconnect() {
  stream.source?.close();
  stream.source = null;
}

function end() {
  if (hasEnded) return;
  hasEnded = true;
  disconnect();
  const notice = document.createElement("p");
  notice.className = "note";
  notice.setAttribute("role", "alert");
  notice.append("Your session has ended: what you see is no longer kept up to date. ");
  const link = document.createElement("a");
  link.href = location.pathname + location.search; // asks for the login, and comes back
  link.textContent = "Log in again";
  notice.append(link);
  document.querySelector("main").prepend(notice);
}

function state(age, now) {
  if (hasEnded) return "ended";
  if (age > STALE_MS) return "stale";
  const isOpen = stream.source?.readyState === EventSource.OPEN;
  const isHeard = isOpen ? now - stream.heardAt < SILENCE_MS : now - stream.lostAt < GAP_MS;
  return stream.source && isHeard && stream.isListening ? "live" : "polling";
}

const WORDS = { live: "live", polling: "polling", stale: "stale", ended: "session ended" };

function indicate() {
  if (!badge || !sections.length) return;
  const now = performance.now();
  const age = now - Math.min(...sections.map((section) => section.freshAt ?? -Infinity));
  const is = state(age, now);
  const [word, old] = badge.children;
  if (badge.dataset.state !== is) {
    badge.dataset.state = is;
    badge.hidden = false;
    word.textContent = WORDS[is];
  }
  const said = Number.isFinite(age) ? `${span(age)} old` : "no data yet";
  if (old.textContent !== said) old.textContent = said;
}

// As web/formats.py writes durations.
function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  for (const [unit, size, smaller, rest] of [["d", 86400, "h", 3600], ["h", 3600, "m", 60], ["m", 60, "s", 1]]) {
    if (seconds < size) continue;
    const left = Math.floor((seconds % size) / rest);
    return `${Math.floor(seconds / size)} ${unit}` + (left ? ` ${left} ${smaller}` : "");
  }
  return `${seconds} s`;
}

function tellTimes() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[datetime]")) {
    const ms = now - Date.parse(time.dateTime);
    if (!Number.isFinite(ms)) continue;
    const words = Math.abs(ms) < 1000 ? "now" : ms > 0 ? `${span(ms)} ago` : `in ${span(-ms)}`;
    if (time.textContent !== words) time.textContent = words;
  }
}

function tick() {
  if (document.hidden) return;
  const now = performance.now();
  if (stream.source && now - stream.heardAt > SILENCE_MS) {
    disconnect();
    connect();
  }
  for (const section of sections) {
    const age = now - (section.freshAt ?? -Infinity);
    if (!section.isBusy && age >= POLL_MS && now - section.triedAt >= RETRY_MS) refresh(section);
  }
  indicate();
  tellTimes();
}

function wake() {
  if (document.hidden) {
    disconnect();
    return;
  }
  tellTimes();
  if (!sections.length) return;
  refreshAll();
  connect();
  indicate();
}

document.addEventListener("visibilitychange", wake);
window.addEventListener("pagehide", disconnect); // an open stream would keep it out of the back-forward cache
window.addEventListener("pageshow", (event) => event.persisted && wake());
if (sections.length) connect();
indicate();
tellTimes();
setInterval(tick, 1000);
