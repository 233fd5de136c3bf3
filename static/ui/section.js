// A fault where a person acts: a line that says it, and a button that fills the line.

import { h } from "../core/dom.js";
import { reasonOf } from "../core/words.js";
import { saidNodes } from "./said.js";

/** A paragraph for what went wrong, empty and hidden until `say` fills it. */
export function problemLine() {
  const line = h("p", { class: "problem", role: "alert", hidden: true });
  let last = "";
  const say = (text = "") => {
    line.hidden = !text;
    if (text !== last) line.replaceChildren(...saidNodes(text));
    last = text;
  };
  return { line, say };
}

/** A button that runs `action`, cannot be pressed twice meanwhile, and says with `say` what went wrong. */
export function actionButton(text, className, say, action) {
  const button = h("button", { type: "button", class: className }, text);
  button.addEventListener("click", async () => {
    if (button.ariaDisabled === "true") return;
    // Not `disabled`: a button that works must not lose the focus.
    button.ariaDisabled = "true";
    say(undefined);
    try {
      await action();
    } catch (error) {
      say(reasonOf(error));
    }
    button.ariaDisabled = null;
  });
  return button;
}
