// The lines between messages: a task fell due, a turn ended early, an error, a capability went
// live, work goes on.

import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { button } from "../ui/button.js";
import { BELL, CLOCK, TICK } from "../ui/icons-more.js";
import { iconOf } from "../ui/icons.js";
import { cutText } from "./cut-text.js";

const said = words.talk;

const plain = (text) => h("span", { dir: "auto" }, text);

const MAKERS = {
  due: ({ content }) => [
    said.notes.due,
    iconOf(CLOCK),
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
  held: ({ content }) => [said.notes.held, iconOf(CLOCK), h("div", { class: "note-text" }, plain(content))],
  end: ({ state, content }) => [
    state === "aborted" ? said.notes.aborted : said.notes.end,
    iconOf("stop"),
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
  timer: ({ content }) => [said.notes.due, iconOf(CLOCK), h("div", { class: "note-text" }, plain(content))],
  reminder: ({ content }) => [said.notes.due, iconOf(BELL), h("div", { class: "note-text" }, plain(content))],
  pressed: ({ content, failed }) => [said.notes.end, iconOf(failed ? "warning" : TICK), h("div", { class: "note-text" }, plain(content))],
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
  return button(said.dismiss, (node) => node.dispatchEvent(new CustomEvent("dismiss-notice", { bubbles: true, detail: key })), { kind: "quiet" });
}

customElements.define("l3-note", Note);
