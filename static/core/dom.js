// The few lines that stand in for a framework: making elements, and keeping a list of them in step
// with data.

import { words } from "./words.js";

/** An element with attributes and children. Strings become text, never markup; `null`, `undefined` and `false` are left out. */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(
    ...children.flat().filter((child) => child !== undefined && child !== null && child !== false && child !== ""),
  );
  return node;
}

/** An icon from the page's own sprite-free set: a path drawn with the current colour. */
export function icon(path, label) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", "icon");
  if (label) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
  } else {
    svg.setAttribute("aria-hidden", "true");
  }
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

/** True when both objects have the same fields with the same values. */
export function sameFields(a, b) {
  if (a === b) return true;
  if (!a || !b) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.is(a[key], b[key]));
}

/** The element that shows `row`: the one that did before, or a new one, and where neither can, its text. */
function shown(old, row, make) {
  let node;
  try {
    node = old && old.dataset.kind === row.kind && !old.isText ? old : make(row);
    node.data = row;
  } catch (error) {
    console.error("a row cannot be shown but as text", error);
    node = h(
      "div",
      { class: "row as-text", dir: "auto" },
      h("p", { class: "status" }, words.failed.row),
      h("pre", {}, textOf(row)),
    );
    node.isText = true;
  }
  if (row.kind !== undefined) node.dataset.kind = row.kind;
  node.shownRow = row;
  return node;
}

function textOf(row) {
  if (typeof row.content === "string") return row.content;
  try {
    return JSON.stringify(row, null, 1);
  } catch {
    return Object.keys(row).join(", ");
  }
}

/**
 * Brings the children of `host` in step with `rows`: one element a row, found again by `row.key`, made by `make(row)`, told
 * about a changed row by setting its `data`. Elements that stay are not moved, so focus, selection and open cards survive. If rows change
 * places, the element with the focus stays and the others move: a browser takes the focus from what is moved.
 * A row that its element cannot show is shown as text, and takes no other row with it.
 */
export function keyed(host, rows, make) {
  const known = host.keyedNodes ?? new Map();
  const next = new Map();
  for (const row of rows) {
    const old = known.get(row.key);
    next.set(row.key, old && sameFields(old.shownRow, row) ? old : shown(old, row, make));
  }
  for (const [key, node] of known) if (next.get(key) !== node) node.remove();
  const held = host.contains(document.activeElement) ? document.activeElement : null;
  let place = host.firstElementChild;
  for (const node of next.values()) {
    if (held && node !== place && node.parentNode === host && node.contains(held)) place = moveBehind(host, place, node);
    if (node === place) place = place.nextElementSibling;
    else host.insertBefore(node, place);
  }
  host.keyedNodes = next;
}

/** Takes what stands from `first` on to before `last` to the end; gives `last`. */
function moveBehind(host, first, last) {
  for (let node = first; node !== last; ) {
    const after = node.nextElementSibling;
    host.append(node);
    node = after;
  }
  return last;
}
