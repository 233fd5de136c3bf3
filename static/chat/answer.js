// An answer of the assistant.

import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { followed } from "./followed.js";
import { renderMarkdown } from "./markdown.js";

/** So long after the last piece of text its end breathes. */
const REST_MS = 500;

/** `<l3-assistant>`: text on the page itself; `data` is a row of kind `assistant`. */
export class AssistantMessage extends HTMLElement {
  set data({ content, final, unproven, streaming, partial, stopped, retried, note, speaker = words.name }) {
    if (!this.body) {
      this.className = "row assistant";
      this.dataset.testid = "message-assistant";
      this.body = h("div", { class: "markdown" });
      for (const press of ["click", "auxclick"]) this.body.addEventListener(press, followed);
      this.append(h("span", { class: "visually-hidden" }, `${speaker}: `), this.body);
    }
    this.dataset.final = String(final);
    this.dataset.streaming = String(streaming);
    this.rest(streaming);
    if (this.shownContent !== content || this.grows !== streaming) {
      this.shownContent = content;
      this.grows = streaming;
      renderMarkdown(this.body, content, streaming);
    }
    this.cutOff?.remove();
    const told = stopped ? words.talk.stoppedHere : partial ? words.talk.cutOff : note;
    this.dataset.stopped = String(stopped === true);
    this.cutOff = told ? h("p", { class: "status" }, told) : undefined;
    if (this.cutOff) this.append(this.cutOff);
    this.mark?.remove();
    this.mark = unproven ? unprovenMark(final) : undefined;
    if (this.mark) this.append(this.mark);
    this.dataset.unproven = String(unproven);
    this.fold(retried);
  }

  /**
   * The mark at the end of a text that is being written breathes only when no piece has come for a while. It is made anew with each piece, and
   * each that breathes is a layer of its own: thirty a second, of which nobody sees a breath.
   */
  rest(streaming) {
    clearTimeout(this.pause);
    this.dataset.rests = "false";
    if (streaming) this.pause = setTimeout(() => (this.dataset.rests = "true"), REST_MS);
  }

  /** An answer that was tried again in another conversation stands folded, with the way there. */
  fold(conversation) {
    if (this.retried === conversation) return;
    this.retried = conversation;
    const link = h("a", { href: `#chat/${conversation}` }, words.chat.retriedLink);
    this.folded?.replaceWith(this.body);
    this.folded = conversation === undefined ? undefined : h("details", { class: "retried", "data-testid": "retried" });
    if (!this.folded) return;
    this.body.replaceWith(this.folded);
    this.folded.append(h("summary", {}, words.chat.retried, " · ", link), this.body);
  }
}

/** The note under an answer that claims what nothing recorded in its turn shows: in short, and opened why. */
function unprovenMark(final) {
  const [short, long] = words.talk.unproven[final];
  return h(
    "details",
    { class: "unproven", "data-testid": "unproven" },
    h("summary", { title: long }, short),
    h("p", {}, long),
  );
}

customElements.define("l3-assistant", AssistantMessage);
