// A long text that begins folded: its first lines, and a button with the count of all of them.

import { h } from "../core/dom.js";
import { approval } from "./approval-words.js";

/** Text of more lines than this begins folded. `--fold` has the same number. */
export const FOLD_LINES = 40;

/** `block` (a `.code`) of `text`: as it is if it is short, else folded until a person opens it. */
export function foldable(block, text) {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  if (lines <= FOLD_LINES) return block;
  const open = h("button", { type: "button", class: "quiet fold-open", "aria-expanded": "false", "data-testid": "fold-open" }, approval.showAll(lines));
  const node = h("div", { class: "fold", "data-folded": "true" }, block, open);
  open.addEventListener("click", () => {
    delete node.dataset.folded;
    // The text is what was asked for; the button has nothing more to do.
    block.querySelector("pre").focus({ preventScroll: true });
    open.remove();
    node.dispatchEvent(new CustomEvent("unfolded", { bubbles: true }));
  });
  return node;
}
