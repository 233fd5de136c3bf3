// Bars: a part of a whole, drawn. The numbers stand beside them in words, so that nothing is told
// by length or colour alone.

import { h } from "../core/dom.js";

/** From this part on a limit is near. */
const NEAR = 0.8;

/** A bar that is filled to `part` (0 to 1). It is decoration: what it shows has to stand beside it. */
export function bar(part, state) {
  const node = h("span", { class: "bar", "aria-hidden": "true", "data-state": state }, h("i"));
  node.style.setProperty("--part", String(Math.min(1, Math.max(0, Number.isFinite(part) ? part : 0))));
  return node;
}

/** A limit with how much of it is used up: `{ label, used, limit, text, action }`; `action` is a button, for a limit that is reached. */
export function budgetBar({ label, used, limit, text, action }) {
  const part = limit > 0 ? used / limit : 1;
  const state = part >= 1 ? "reached" : part >= NEAR ? "near" : "free";
  return h(
    "div",
    { class: "budget", "data-state": state, "data-testid": "budget" },
    h("p", { class: "budget-line" }, h("span", {}, label), h("span", { class: "budget-text" }, text)),
    bar(part, state),
    action ?? "",
  );
}
