// What a bar of a chart stands for, where the pointer is.

export function readCharts() {
  document.addEventListener("pointermove", (event) => {
    const chart = event.target.closest?.("[data-chart]");
    if (chart) read(chart, event.clientX);
  });
}

/** @param {HTMLElement} chart @param {number} x */
function read(chart, x) {
  const box = chart.querySelector("svg").getBoundingClientRect();
  const values = chart.dataset.values.split(",").map(Number);
  const place = Math.floor(((x - box.left) / box.width) * values.length);
  if (place < 0 || place >= values.length) return;
  const at = new Date(Number(chart.dataset.since) + place * 60000);
  const clock = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const when = at > new Date() ? "will fire" : "in that minute";
  chart.querySelector("[data-readout]").textContent = `${clock}: ${values[place]} ${when}`;
}
