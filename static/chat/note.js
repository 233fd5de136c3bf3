// The lines between messages: a task fell due, a turn ended early, an error, a capability went
// live, work goes on.

import { h, icon } from "../core/dom.js";
import { words } from "../core/words.js";
import { iconOf } from "../ui/icons.js";
import { cutText } from "./cut-text.js";

const said = words.talk;
const CLOCK = "M10 3.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM10 6.5V10l2.5 1.8";
const BELL = "M10 3a4.5 4.5 0 0 1 4.5 4.5c0 4 1.5 5 1.5 5H4s1.5-1 1.5-5A4.5 4.5 0 0 1 10 3zM8.3 15.5a1.8 1.8 0 0 0 3.4 0";
const TICK = "M4.5 10.5l3.5 3.5 7.5-8";
const HALT = "M6.5 6.5h7v7h-7z";

const plain = (text) => h("span", { dir: "auto" }, text);

const MAKERS = {
  due: ({ content }) => [
    said.notes.due,
    icon(CLOCK),
    h(
      "div",
      { class: "note-text" },
      h("span", { class: "note-title" }, words.chat.woke),
      cutText(content || words.chat.fell, plain, 600),
    ),
  ],
  branched: ({ conversation }) => [
    "",
    iconOf("branch"),
    h("div", { class: "note-text" }, words.chat.branched, " ", h("a", { href: `#chat/${conversation}` }, words.chat.branchedLink), "."),
  ],
  held: ({ content }) => [said.notes.held, icon(CLOCK), h("div", { class: "note-text" }, plain(content))],
  end: ({ state, content }) => [
    state === "aborted" ? said.notes.aborted : said.notes.end,
    icon(HALT),
    h("div", { class: "note-text" }, plain(content || (state === "aborted" ? said.aborted : said.ended))),
  ],
  error: ({ content }) => [
    said.notes.error,
    iconOf("warning"),
    h("div", { class: "note-text" }, cutText(content || said.failed, plain)),
  ],
  notice: ({ key, content }) => [
    said.notes.error,
    iconOf("warning"),
    h("div", { class: "note-text" }, cutText(content, plain)),
    dismissButton(key),
  ],
  capability: ({ name, version, enabled }) => {
    const [before, after] = said.capability(version, enabled);
    return [said.notes.capability, iconOf("made"), h("div", { class: "note-text" }, before, h("code", {}, name), after)];
  },
  timer: ({ content }) => [said.notes.due, icon(CLOCK), h("div", { class: "note-text" }, plain(content))],
  reminder: ({ content }) => [said.notes.due, icon(BELL), h("div", { class: "note-text" }, plain(content))],
  pressed: ({ content, failed }) => [said.notes.end, failed ? iconOf("warning") : icon(TICK), h("div", { class: "note-text" }, plain(content))],
  working: ({ stopping, notice }) => [
    "",
    h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    h("span", {}, stopping ? said.stopping : (notice ?? said.working)),
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
    // Errors of turns are history as well; the announcer reads out the new ones. Notices are always
    // new.
    this.setAttribute("role", row.kind === "notice" ? "alert" : "note");
    if (label) this.setAttribute("aria-label", label);
    this.replaceChildren(...children);
  }
}

function dismissButton(key) {
  const button = h("button", { type: "button", class: "quiet" }, said.dismiss);
  button.addEventListener("click", () =>
    button.dispatchEvent(new CustomEvent("dismiss-notice", { bubbles: true, detail: key })),
  );
  return button;
}

customElements.define("l3-note", Note);
