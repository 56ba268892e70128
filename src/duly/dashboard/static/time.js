// Instants in words. The server writes them in UTC; only the browser knows where its reader is.

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
const formats = new Map();

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

/** @param {Date} at @param {string} zone */
function nearby(at, zone) {
  const today = format(zone, { dateStyle: "short" });
  return format(zone, today.format(at) === today.format(new Date()) ? CLOCK : DAY).format(at);
}

/** @param {HTMLTimeElement} element */
function show(element) {
  const at = new Date(element.dateTime);
  if (Number.isNaN(at.getTime())) return;
  const zone = element.dataset.zone || HERE;
  switch (element.dataset.shown) {
    case "relative":
      put(element, distance((at.getTime() - Date.now()) / 1000));
      break;
    case "zoned":
      put(element, nearby(at, zone));
      break;
    case "since":
      put(element, distance((at.getTime() - Date.now()) / 1000).replace(" ago", ""));
      break;
    case "full":
      put(element, format(HERE, FULL).format(at));
      break;
    default:
      put(element, nearby(at, HERE));
  }
  if (!element.dataset.told) {
    const lines = [`${format(HERE, FULL).format(at)} ${HERE} (here)`];
    if (zone !== HERE && zone !== "UTC") lines.push(`${format(zone, FULL).format(at)} ${zone}`);
    lines.push(`${format("UTC", FULL).format(at)} UTC`);
    element.title = lines.join("\n");
    element.dataset.told = "yes";
  }
}

/** @param {Element} element @param {string} text */
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {ParentNode} root */
export function showTimes(root) {
  root.querySelectorAll("time[datetime]").forEach(show);
}

// Distances grow older by themselves; nobody sees it in a hidden tab.
setInterval(() => {
  if (!document.hidden) document.querySelectorAll('time[data-shown="relative"], time[data-shown="since"]').forEach(show);
}, 1000);
