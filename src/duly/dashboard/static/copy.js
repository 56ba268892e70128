// A button on every text that is there to be copied; without a script it can still be marked.

/** @param {ParentNode} root */
export function offerCopies(root) {
  for (const text of root.querySelectorAll("pre[data-copy]")) {
    if (text.previousElementSibling?.matches("button[data-copies]")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.copies = "";
    button.className = "copy small";
    button.textContent = "Copy";
    text.before(button);
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copies]");
  if (!button) return;
  const text = button.nextElementSibling;
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
  } catch {
    // No clipboard without TLS: mark it, so that the keyboard can.
    getSelection().selectAllChildren(text);
    button.textContent = "Marked";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
});
document.addEventListener("refreshed", (event) => offerCopies(event.target));
offerCopies(document);
