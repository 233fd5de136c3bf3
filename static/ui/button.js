// Buttons: primary (one on a screen), plain, quiet and danger.

import { h } from "../core/dom.js";
import { iconOf } from "./icons.js";

const CLASSES = { primary: "button primary", plain: "button", danger: "button danger", quiet: "quiet" };

/** A button that runs `action`. While a promise of it is open the button is busy and cannot be pressed twice. */
export function button(text, action, { kind = "plain", icon, ...attributes } = {}) {
  const node = h("button", { type: "button", class: CLASSES[kind], ...attributes }, icon ? iconOf(icon) : "", text);
  node.addEventListener("click", () => busyWhile(node, action));
  return node;
}

/** A button that is only an icon; `label` is its name. */
export function iconButton(icon, label, action, attributes = {}) {
  const node = h("button", { type: "button", class: "icon-button", title: label, ...attributes }, iconOf(icon, label));
  node.addEventListener("click", () => busyWhile(node, action));
  return node;
}

async function busyWhile(node, action) {
  // Not `disabled`: a button that works must not lose the focus.
  if (node.getAttribute("aria-busy") === "true" || node.getAttribute("aria-disabled") === "true") return;
  const doing = action(node);
  if (!(doing instanceof Promise)) return;
  node.setAttribute("aria-busy", "true");
  try {
    await doing;
  } finally {
    node.removeAttribute("aria-busy");
  }
}
