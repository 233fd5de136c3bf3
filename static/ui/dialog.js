// A dialog over the page. Escape closes it, and so does leaving the place; the focus goes back to
// where it was.

import { h } from "../core/dom.js";
import { reasonOf, words } from "../core/words.js";
import { button } from "./button.js";

/** Opens a dialog with `children`; returns the element. It leaves the page when it is closed. */
export function openDialog(label, children, attributes = {}) {
  const dialog = h("dialog", { "aria-label": label, ...attributes, class: `dialog ${attributes.class ?? ""}`.trim() }, children);
  // Between pressing and letting go the pointer may move: only both outside close it.
  let outside = false;
  dialog.addEventListener("pointerdown", (event) => (outside = event.target === dialog));
  dialog.addEventListener("click", (event) => event.target === dialog && outside && dialog.close());
  const gone = new AbortController();
  // Before the place goes: the focus is back in it by then, and goes along to the next.
  addEventListener("hashchange", () => dialog.close(), { capture: true, signal: gone.signal });
  dialog.addEventListener("close", () => (gone.abort(), dialog.remove()));
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Asks before something is done: `action` does it; what it throws is shown, and the question stays. Its `returnValue` is `cancel` after a press on that. */
export function ask({ title, text, control, yes, kind = "primary", action }) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const act = async () => {
    try {
      await action();
      dialog.close();
    } catch (error) {
      problem.hidden = false;
      problem.textContent = reasonOf(error);
    }
  };
  const no = button(words.say.cancel, () => dialog.close("cancel"));
  const go = button(yes, act, { kind, "data-testid": "confirm" });
  const form = h("form", { method: "dialog" }, h("h2", {}, title), text ? h("p", { dir: "auto" }, text) : "", control ?? "", problem);
  form.append(h("div", { class: "dialog-buttons" }, no, go));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go.click();
  });
  const dialog = openDialog(title, form);
  if (!control) no.focus();
  return dialog;
}
