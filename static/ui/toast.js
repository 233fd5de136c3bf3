// A line that says what was done, with a way back. It leaves by itself, but not while it is looked
// at.

import { h } from "../core/dom.js";
import { styles } from "../core/styles.js";

const SHOWN_MS = 8000;
let styled;

/** Says `text`; with `undo` there is a button of that name. */
export async function toast(text, { undo, action } = {}) {
  await (styled ??= styles(import.meta.url, "toast.css"));
  let host = document.querySelector(".toasts");
  if (!host) {
    host = h("div", { class: "toasts", role: "status" });
    (document.querySelector("main") ?? document.body).append(host);
  }
  const node = h("div", { class: "toast", dir: "auto" }, h("span", {}, text));
  if (undo) {
    const back = () => {
      node.remove();
      action();
    };
    node.append(h("button", { type: "button", class: "quiet", onclick: back }, undo));
  }
  host.append(node);
  const leave = () => (node.matches(":hover, :focus-within") ? setTimeout(leave, 1000) : node.remove());
  setTimeout(leave, SHOWN_MS);
}
