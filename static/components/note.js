// The lines between messages: a task fell due, a turn ended early, an error, a capability went live, work goes on.

import { h, icon } from "../dom.js";
import { cutText } from "./cut-text.js";

const CLOCK = "M10 3.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM10 6.5V10l2.5 1.8";
const WARNING = "M10 3.5l7 12.5H3zM10 8v3.5M10 13.6v.2";
const SPARK = "M11 3L5 11.5h4L8.5 17 15 8.5h-4.5z";
const HALT = "M6.5 6.5h7v7h-7z";

const plain = (text) => h("span", { dir: "auto" }, text);

const MAKERS = {
  due: ({ content }) => [
    "Due",
    icon(CLOCK),
    h(
      "div",
      { class: "note-text" },
      h("span", { class: "note-title" }, "The heartbeat woke the assistant"),
      cutText(content, plain, 600),
    ),
  ],
  held: ({ content }) => ["Waiting", icon(CLOCK), h("div", { class: "note-text" }, plain(content))],
  end: ({ state, content }) => [
    state === "aborted" ? "Stopped" : "Note",
    icon(HALT),
    h("div", { class: "note-text" }, plain(content || (state === "aborted" ? "Stopped." : "The turn ended."))),
  ],
  error: ({ content }) => [
    "Error",
    icon(WARNING),
    h("div", { class: "note-text" }, cutText(content || "The turn failed; the server gave no reason.", plain)),
  ],
  notice: ({ key, content }) => [
    "Error",
    icon(WARNING),
    h("div", { class: "note-text" }, cutText(content, plain)),
    dismissButton(key),
  ],
  capability: ({ name, version, enabled }) => [
    "Capability",
    icon(SPARK),
    h(
      "div",
      { class: "note-text" },
      "Capability ",
      h("code", {}, name),
      ` v${version} is ${enabled ? "live" : "disabled"}`,
    ),
  ],
  working: ({ stopping }) => [
    "",
    h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    h("span", {}, stopping ? "Stopping…" : "Working…"),
  ],
};

/** `<l3-note>`: `data` is a row of any of the kinds above. Sends `dismiss-notice`. */
export class Note extends HTMLElement {
  set data(row) {
    const make = MAKERS[row.kind];
    if (!make) return;
    const [label, ...children] = make(row);
    this.className = `row note ${row.kind}`;
    const isError = row.kind === "error" || row.kind === "notice";
    this.dataset.testid = isError ? "error" : `note-${row.kind}`;
    // Errors of turns are history as well; the announcer reads out the new ones. Notices are always new.
    this.setAttribute("role", row.kind === "notice" ? "alert" : "note");
    if (label) this.setAttribute("aria-label", label);
    this.replaceChildren(...children);
  }
}

function dismissButton(key) {
  const button = h("button", { type: "button", class: "quiet" }, "Dismiss");
  button.addEventListener("click", () =>
    button.dispatchEvent(new CustomEvent("dismiss-notice", { bubbles: true, detail: key })),
  );
  return button;
}

customElements.define("l3-note", Note);
