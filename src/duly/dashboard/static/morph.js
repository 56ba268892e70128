// Make an element what new HTML says and keep what is the same: the focus, the selection, a tick that somebody set.

/** @param {Element} element @param {string} html */
export function morph(element, html) {
  const wanted = new DOMParser().parseFromString(html, "text/html").body;
  children(element, wanted);
}

/** @param {Node} node */
function keyOf(node) {
  return node instanceof Element ? node.getAttribute("data-key") || node.id || "" : "";
}

/** @param {Node} one @param {Node} other */
function alike(one, other) {
  return one.nodeName === other.nodeName && keyOf(one) === keyOf(other);
}

/** @param {Element} present @param {Element} wanted */
function children(present, wanted) {
  const keyed = new Map();
  for (const child of present.children) if (keyOf(child)) keyed.set(keyOf(child), child);
  let at = present.firstChild;
  for (let next = wanted.firstChild; next; ) {
    const following = next.nextSibling;
    const known = keyed.get(keyOf(next));
    // Text between elements must not put them out of step: a part by itself begins without the space it had on the page.
    while (at instanceof Text && next instanceof Element) {
      const after = at.nextSibling;
      at.remove();
      at = after;
    }
    if (at && alike(at, next)) {
      const after = at.nextSibling;
      node(at, next);
      at = after;
    } else if (known && alike(known, next)) {
      present.insertBefore(known, at);
      node(known, next);
    } else {
      present.insertBefore(next, at);
    }
    next = following;
  }
  while (at) {
    const after = at.nextSibling;
    at.remove();
    at = after;
  }
}

/** @param {Node} present @param {Node} wanted */
function node(present, wanted) {
  if (!(present instanceof Element) || !(wanted instanceof Element)) {
    if (present.nodeValue !== wanted.nodeValue) present.nodeValue = wanted.nodeValue;
    return;
  }
  if (present.hasAttribute("data-kept")) return;
  if (isShown(present) && present.getAttribute("datetime") === wanted.getAttribute("datetime")) return;
  for (const { name } of [...present.attributes]) {
    if (!wanted.hasAttribute(name) && !(present.tagName === "DETAILS" && name === "open")) present.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (present.getAttribute(name) !== value) present.setAttribute(name, value);
  }
  children(present, wanted);
}

/** Whether a script wrote what an instant reads; what is told in a schedule's zone the server did. @param {Element} element */
function isShown(element) {
  return element instanceof HTMLTimeElement && element.dataset.shown !== "zoned";
}
