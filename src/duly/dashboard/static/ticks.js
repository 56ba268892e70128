// Ticks of a list: how many there are, and one tick for all of them. Without any, all that match are meant, or what the list says.

export function startTicks() {
  const form = document.querySelector("[data-bulk]");
  const words = form?.querySelector("[data-ticked]");
  if (!words) return;
  const boxes = () => [...form.querySelectorAll('input[name="id"]')];
  const tell = () => {
    const ticked = boxes().filter((box) => box.checked).length;
    const narrowed = form.querySelector(".bulk input:not([disabled])");
    const otherwise = words.dataset.none ?? (narrowed ? "All that match:" : "All schedules:");
    words.textContent = ticked ? `${ticked} ticked:` : otherwise;
    const all = form.querySelector("[data-all]");
    if (!all) return;
    all.hidden = false;
    all.checked = ticked > 0 && ticked === boxes().length;
    all.indeterminate = ticked > 0 && !all.checked;
  };
  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) boxes().forEach((box) => (box.checked = event.target.checked));
    tell();
  });
  form.addEventListener("refreshed", tell);
  addEventListener("pageshow", tell);
  tell();
}
