// Instants in words. Distances, and what is told in a schedule's own zone, the server wrote; only the browser knows where
// its reader is. This is the one script that a first view waits for: what makes a page act is fetched when it is seen.

const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
const formats = new Map();
let place = "";

/** The reader's own zone; to ask for it, or to format with it, takes a browser a while the first time. */
function here() {
  place ||= Intl.DateTimeFormat().resolvedOptions().timeZone;
  return place;
}

/** @param {string} zone @param {Intl.DateTimeFormatOptions} options */
function format(zone, options) {
  const key = zone + JSON.stringify(options);
  if (!formats.has(key)) {
    formats.set(key, new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone, hourCycle: "h23" }));
  }
  return formats.get(key);
}

const FULL = { year: "numeric", month: "short", day: "numeric", weekday: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" };
const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const MINUTE = { hour: "2-digit", minute: "2-digit" };
const DAY = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };

/** The two largest units of a distance, the second only while the first is small. @param {number} seconds */
export function distance(seconds) {
  const away = Math.abs(seconds);
  if (away < 1) return "now";
  let left = Math.floor(away);
  const parts = [];
  for (const [unit, size] of UNITS) {
    const many = Math.floor(left / size);
    if (many && (parts.length === 0 || (parts.length === 1 && size >= 60))) parts.push(`${many} ${unit}`);
    left -= many * size;
    if (parts.length === 2) break;
  }
  const words = parts.join(" ");
  return seconds > 0 ? `in ${words}` : `${words} ago`;
}

/** @param {Date} at */
function nearby(at) {
  const today = format(here(), { dateStyle: "short" });
  return format(here(), today.format(at) === today.format(new Date()) ? CLOCK : DAY).format(at);
}

/** @param {HTMLTimeElement} element */
function show(element) {
  const { shown } = element.dataset;
  if (shown === "zoned") return;
  const at = new Date(element.dateTime);
  if (Number.isNaN(at.getTime())) return;
  if (shown === "relative" || shown === "since") {
    const words = distance((at.getTime() - Date.now()) / 1000);
    put(element, shown === "since" ? words.replace(" ago", "") : words);
  } else {
    put(element, shown === "full" ? format(here(), FULL).format(at) : nearby(at));
  }
}

/** What is told of an instant to who points at it; a page has hundreds, and few are asked. @param {HTMLTimeElement} element */
function tell(element) {
  const at = new Date(element.dateTime);
  if (Number.isNaN(at.getTime())) return;
  const zone = element.dataset.zone || here();
  const lines = [`${format(here(), FULL).format(at)} ${here()} (here)`];
  if (zone !== here() && zone !== "UTC") lines.push(`${format(zone, FULL).format(at)} ${zone}`);
  lines.push(`${format("UTC", FULL).format(at)} UTC`);
  element.title = lines.join("\n");
}

document.addEventListener("pointerover", (event) => {
  const element = event.target instanceof Element && event.target.closest("time[datetime]");
  if (element) tell(/** @type {HTMLTimeElement} */ (element));
});

/** @param {Element} element @param {string} text */
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {ParentNode} root */
export function showTimes(root) {
  root.querySelectorAll("time[datetime]").forEach(show);
  for (const mark of root.querySelectorAll("text[data-minute]")) put(mark, format(here(), MINUTE).format(new Date(mark.dataset.minute)));
}

// Distances grow older by themselves; nobody sees it in a hidden tab.
setInterval(() => {
  if (!document.hidden) document.querySelectorAll('time[data-shown="relative"], time[data-shown="since"]').forEach(show);
}, 1000);

showTimes(document);
// Behind the first frame: what is fetched before would compete with it.
addEventListener("load", () => requestAnimationFrame(() => setTimeout(fetchScripts)));

function fetchScripts() {
  for (const name of document.body.dataset.scripts.split(" ")) import(`./${name}`);
}
