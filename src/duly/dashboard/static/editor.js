// The preview follows what is written: the whole page is made by the server again, and its changed pieces are taken.
import { morph } from "./morph.js";
import { offerCopies } from "./copy.js";
import { showTimes } from "./time.js";

const PAUSE_MS = 250;
const form = document.querySelector("form[data-editor]");
let timer = 0;
let asked = 0;

function soon() {
  clearTimeout(timer);
  timer = setTimeout(look, PAUSE_MS);
}

async function look() {
  const number = ++asked;
  const answer = await fetch(form.dataset.preview, {
    method: "POST",
    body: new URLSearchParams(new FormData(form)),
    redirect: "manual",
  }).catch(() => null);
  // An answer that was overtaken tells of what is no longer there.
  if (!answer?.ok || number !== asked) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (number !== asked) return;
  const preview = document.getElementById("preview");
  morph(preview, page.getElementById("preview").innerHTML);
  showTimes(preview);
  offerCopies(preview);
  for (const place of form.querySelectorAll(".problems")) {
    const told = page.getElementById(place.id);
    if (told && told.innerHTML !== place.innerHTML) morph(place, told.innerHTML);
    const field = form.querySelector(`[aria-describedby="${place.id}"]`);
    if (told?.childElementCount) {
      field?.setAttribute("aria-invalid", "true");
      place.closest("details")?.setAttribute("open", "");
    } else {
      field?.removeAttribute("aria-invalid");
    }
  }
}

for (const button of form.querySelectorAll("[data-needless]")) button.hidden = true;
form.addEventListener("input", soon);
form.addEventListener("change", soon);
// A text that is there already, such as after going back, is looked at too.
if (form.elements.cronExpression.value || form.elements.when.value !== "cron") soon();
