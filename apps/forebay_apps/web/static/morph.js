// Change an element's content into that of another, keeping the nodes that both have.
//
// A node that is kept keeps what the server does not know of: focus, selection, scroll position,
// whether it is open, what was typed into it. Nodes with an id are found by it, others by their
// place and name. What has data-keep is left as it is.

export function morph(parent, wanted) {
  const byId = new Map();
  const ids = new Set();
  for (const child of parent.children) if (child.id) byId.set(child.id, child);
  for (const child of wanted.children) if (child.id) ids.add(child.id);
  let place = parent.firstChild; // what is before it is done
  for (const next of [...wanted.childNodes]) {
    while (place?.id && !ids.has(place.id)) place = removed(place);
    const found = next.id ? byId.get(next.id) : undefined;
    if (found && found.nodeName === next.nodeName) {
      if (found === place) place = place.nextSibling;
      else move(parent, found, place);
      change(found, next);
    } else if (place && isAlike(place, next)) {
      const kept = place;
      place = place.nextSibling;
      change(kept, next);
    } else {
      parent.insertBefore(next, place);
    }
  }
  while (place) place = removed(place);
}

function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function move(parent, node, place) {
  if (parent.moveBefore) parent.moveBefore(node, place); // keeps focus and scroll position
  else parent.insertBefore(node, place);
}

function isAlike(node, next) {
  return node.nodeName === next.nodeName && !node.id && !next.id;
}

function change(node, next) {
  if (node.nodeType !== Node.ELEMENT_NODE) {
    if (node.nodeValue !== next.nodeValue) node.nodeValue = next.nodeValue;
    return;
  }
  if ("keep" in node.dataset) return;
  for (const { name } of [...node.attributes]) {
    if (!next.hasAttribute(name) && !isThePersons(node, name)) node.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (node.getAttribute(name) !== value && !isThePersons(node, name)) node.setAttribute(name, value);
  }
  if (node.nodeName !== "TEXTAREA") morph(node, next);
}

function isThePersons(node, name) {
  return name === "open" && ["DETAILS", "DIALOG"].includes(node.nodeName);
}
