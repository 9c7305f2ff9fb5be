// Change an element's children into those of another, keeping the nodes that are the same.
// What is kept keeps its focus, selection, scroll position, open state and what was typed into it.

export function morph(from, to) {
  const kept = new Map();
  for (const child of from.children) if (child.id) kept.set(child.id, child);
  let current = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    let match = null;
    if (wanted.id && kept.has(wanted.id)) match = kept.get(wanted.id);
    else if (current && isSame(current, wanted)) match = current;
    if (!match) {
      from.insertBefore(wanted, current);
      continue;
    }
    if (match === current) current = current.nextSibling;
    else from.insertBefore(match, current);
    if (match.nodeType === Node.ELEMENT_NODE) change(match, wanted);
    else if (match.nodeValue !== wanted.nodeValue) match.nodeValue = wanted.nodeValue;
  }
  while (current) {
    const next = current.nextSibling;
    current.remove();
    current = next;
  }
}

function isSame(node, wanted) {
  return node.nodeType === wanted.nodeType && node.nodeName === wanted.nodeName
    && (node.id ?? "") === (wanted.id ?? "");
}

function change(node, wanted) {
  if ("keep" in node.dataset) return;
  for (const { name } of [...node.attributes]) {
    if (!wanted.hasAttribute(name) && !isTheirs(node, name)) node.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (node.getAttribute(name) !== value && !isTheirs(node, name)) node.setAttribute(name, value);
  }
  if (node.nodeName !== "TEXTAREA") morph(node, wanted);
}

// What the person set and the server does not know.
function isTheirs(node, name) {
  return (name === "open" && (node.nodeName === "DETAILS" || node.nodeName === "DIALOG"));
}
