// What a person said, and what the assistant said.

import { h } from "../dom.js";
import { renderMarkdown } from "../markdown.js";
import { cutText } from "./cut-text.js";
import { thumbnails } from "./thumbnails.js";

const STATUS_WORDS = {
  sending: "Sending…",
  queued: "Waits its turn",
  steering: "The running turn sees it at its next step",
  unseen: "The turn was stopped before it saw this",
};

/** `<l3-user>`: a bubble; `data` is a row of kind `user`. Sends `edit-message` and `dismiss-message` for a refused one. */
export class UserMessage extends HTMLElement {
  set data(row) {
    this.className = "row user";
    this.dataset.testid = "message-user";
    this.dataset.status = row.status ?? "accepted";
    this.dataset.steered = String(row.steered === true);
    if (this.shownContent !== row.content) {
      this.shownContent = row.content;
      this.bubble = h(
        "div",
        { class: "bubble", dir: "auto" },
        h("span", { class: "visually-hidden" }, "You: "),
        cutText(row.content, (text) => h("span", {}, text)),
      );
    }
    if (this.shownImages !== row.images) {
      this.shownImages = row.images;
      this.pictures = row.images?.length > 0 ? [thumbnails(row.images)] : [];
    }
    this.bubble.hidden = row.content === "" && this.pictures?.length > 0;
    this.replaceChildren(...(this.pictures ?? []), this.bubble, ...this.footOf(row));
  }

  footOf(row) {
    if (row.status === "refused") {
      const say = (type) => () => this.dispatchEvent(new CustomEvent(type, { bubbles: true, detail: row.id }));
      return [
        h("p", { class: "refused", "data-testid": "error", role: "alert" }, row.error),
        h(
          "p",
          { class: "status" },
          h("button", { type: "button", class: "quiet", onclick: say("edit-message") }, "Edit"),
          h("button", { type: "button", class: "quiet", onclick: say("dismiss-message") }, "Dismiss"),
        ),
      ];
    }
    return STATUS_WORDS[row.status] ? [h("p", { class: "status" }, STATUS_WORDS[row.status])] : [];
  }
}

/** What stands under an answer that claims what nothing recorded in its turn shows: in short, and why. */
const UNPROVEN = {
  true: [
    "No recorded effect in this turn",
    "This answer says that something was done or looked at, and the records of this turn do not show it. It may be wrong.",
  ],
  false: [
    "Taken back: no recorded effect",
    "This answer said that something was done or looked at, which the records of this turn did not show. The model was asked to correct itself.",
  ],
};

/** `<l3-assistant>`: text on the page itself; `data` is a row of kind `assistant`. */
export class AssistantMessage extends HTMLElement {
  set data({ content, final, unproven, streaming, partial, stopped }) {
    if (!this.body) {
      this.className = "row assistant";
      this.dataset.testid = "message-assistant";
      this.body = h("div", { class: "markdown", dir: "auto" });
      this.append(h("span", { class: "visually-hidden" }, "level3: "), this.body);
    }
    this.dataset.final = String(final);
    this.dataset.streaming = String(streaming);
    if (this.shownContent !== content) {
      this.shownContent = content;
      renderMarkdown(this.body, content);
    }
    this.cutOff?.remove();
    const words = stopped ? "Stopped here." : partial ? "Cut off here; this part is not on record." : undefined;
    this.dataset.stopped = String(stopped === true);
    this.cutOff = words ? h("p", { class: "status" }, words) : undefined;
    if (this.cutOff) this.append(this.cutOff);
    this.mark?.remove();
    this.mark = unproven ? unprovenMark(final) : undefined;
    if (this.mark) this.append(this.mark);
    this.dataset.unproven = String(unproven);
  }
}

/** The mark; whoever wants to know more points at it or opens it. */
function unprovenMark(final) {
  const [short, long] = UNPROVEN[final];
  return h(
    "details",
    { class: "unproven", "data-testid": "unproven" },
    h("summary", { title: long }, short),
    h("p", {}, long),
  );
}

customElements.define("l3-user", UserMessage);
customElements.define("l3-assistant", AssistantMessage);
