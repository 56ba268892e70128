// Search as you type: the address keeps what is looked for, so that it can be shared and gone back to.
import { refresh } from "./live.js";

const PAUSE_MS = 180;

export function startSearch() {
  const form = document.querySelector("[data-search-form]");
  const input = form?.querySelector("[data-search]");
  if (!input) return;
  let timer = 0;
  let shown = new URL(location.href).searchParams.get("q")?.trim() ?? "";
  const look = () => {
    const text = input.value.trim();
    if (text === shown) return;
    shown = text;
    const address = new URL(location.href);
    address.searchParams.delete("cursor");
    if (text) address.searchParams.set("q", text);
    else address.searchParams.delete("q");
    history.replaceState(null, "", address);
    keep(text);
    refresh("rows", true);
    refresh("tools", true);
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE_MS);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    look();
  });
  look(); // somebody may have typed before this came
}

/** What is done to all that match is done to what is shown. @param {string} text */
function keep(text) {
  const bulk = document.querySelector("[data-bulk] .bulk");
  if (!bulk) return;
  let field = bulk.querySelector('input[name="q"]');
  if (!field) {
    field = document.createElement("input");
    field.type = "hidden";
    field.name = "q";
    bulk.prepend(field);
  }
  field.value = text;
  field.disabled = !text;
}
