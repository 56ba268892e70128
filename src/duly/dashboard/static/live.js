// Parts of a page that refresh themselves. The stream says which topics changed; the page fetches the parts that show
// them, all in one request, no part more often than it wants, and nothing at all while nobody looks.
import { morph } from "./morph.js";
import { showTimes } from "./time.js";

const LEAST_MS = 1000;
const SLOW_AFTER_MS = 5000;

/** @type {Map<string, {on: string[], least: number, every: number, at: number, stale: boolean}>} */
const parts = new Map();
let source = null;
let timer = 0;
let asking = false;
let failures = 0;

export function startLive() {
  for (const element of document.querySelectorAll("[data-part]")) {
    const { part, on, least, every } = element.dataset;
    parts.set(part, {
      on: (on || "").split(" ").filter(Boolean),
      least: Math.max(LEAST_MS, Number(least || 1) * 1000),
      every: Number(every || 0) * 1000,
      at: performance.now(),
      stale: false,
    });
  }
  if (!parts.size) return;
  document.addEventListener("visibilitychange", look);
  addEventListener("pagehide", stop);
  addEventListener("pageshow", look);
  look();
}

/** Have parts fetched again soon: all, or one of a name; or now. @param {string} [name] @param {boolean} [now] */
export function refresh(name, now = false) {
  for (const [own, part] of parts) {
    if (name && own !== name) continue;
    part.stale = true;
    if (now) part.at = -Infinity;
  }
  if (now) failures = 0; // a person waits for it
  plan();
}

function look() {
  if (document.hidden) {
    stop();
  } else if (!source) {
    const away = [...parts.values()].some((part) => performance.now() - part.at > LEAST_MS * 2);
    listen();
    if (away) refresh();
    plan();
  }
}

function stop() {
  source?.close();
  source = null;
  clearTimeout(timer);
  timer = 0;
  pulse("off", "This page is not live while it is not looked at");
}

function listen() {
  source = new EventSource(document.body.dataset.live);
  source.addEventListener("open", () => {
    pulse("on", "Live: changes show by themselves");
    failures = 0;
    // What happened between the page and its stream, or while that was broken, nobody tells.
    for (const part of parts.values()) if (part.on.length) part.stale = true;
    plan();
  });
  source.addEventListener("changed", (event) => changed(JSON.parse(event.data)));
  source.addEventListener("error", () => pulse("off", "The server is not heard; trying again"));
}

/** @param {{topics: string[]}} news */
function changed(news) {
  for (const part of parts.values()) if (part.on.some((topic) => news.topics.includes(topic))) part.stale = true;
  plan();
}

/** Set the timer to when the next part may, or has to, be fetched. */
function plan() {
  clearTimeout(timer);
  timer = 0;
  if (document.hidden || asking) return;
  let due = Infinity;
  for (const part of parts.values()) {
    if (part.stale) due = Math.min(due, part.at + part.least);
    if (part.every) due = Math.min(due, part.at + part.every);
  }
  if (due < Infinity) timer = setTimeout(fetchParts, Math.max(0, due - performance.now()) + failures * SLOW_AFTER_MS);
}

async function fetchParts() {
  const now = performance.now();
  const wanted = [];
  for (const [name, part] of parts) {
    const due = (part.stale && now - part.at >= part.least) || (part.every && now - part.at >= part.every);
    if (!due) continue;
    wanted.push(name);
    part.stale = false;
    part.at = now;
  }
  if (!wanted.length) return plan();
  asking = true;
  try {
    const asked = location.href;
    const answer = await fetch(asked, { headers: { "X-Duly-Parts": wanted.join(",") }, redirect: "manual" });
    if (answer.status === 401 || answer.status === 403) return location.reload();
    if (!answer.ok) throw new Error(String(answer.status));
    failures = 0;
    const html = await answer.json();
    // Somebody typed on meanwhile: what was asked for is not what is wanted any more.
    if (asked === location.href) place(html);
    else for (const name of wanted) refresh(name, true);
  } catch {
    failures = Math.min(failures + 1, 6);
    for (const name of wanted) parts.get(name).stale = true;
  } finally {
    asking = false;
    plan();
  }
}

/** @param {Record<string, string>} html */
function place(html) {
  for (const [name, text] of Object.entries(html)) {
    const element = document.getElementById(`part-${name}`);
    if (!element) continue;
    morph(element, text);
    showTimes(element);
    element.dispatchEvent(new CustomEvent("refreshed", { bubbles: true }));
  }
}

/** @param {"on" | "off"} state @param {string} words */
function pulse(state, words) {
  const element = document.querySelector("[data-pulse]");
  if (!element) return;
  element.dataset.pulse = state;
  element.title = words;
  element.firstElementChild.textContent = state === "on" ? "live" : "not live";
}
