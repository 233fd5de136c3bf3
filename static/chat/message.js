// A message of a person.

import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { iconButton } from "../ui/button.js";
import { messageNodes } from "./file-block.js";
import { thumbnails } from "./thumbnails.js";

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
        h("span", { class: "visually-hidden" }, words.chat.you),
        messageNodes(row.content),
      );
    }
    if (this.shownImages !== row.images) {
      this.shownImages = row.images;
      this.pictures = row.images?.length > 0 ? [thumbnails(row.images)] : [];
    }
    this.bubble.hidden = row.content === "" && this.pictures?.length > 0;
    const line = h("div", { class: "message-line" }, this.editButton(row), this.bubble);
    this.replaceChildren(...(this.pictures ?? []), line, ...this.footOf(row));
  }

  footOf(row) {
    if (row.status === "refused") {
      const say = (type) => () => this.dispatchEvent(new CustomEvent(type, { bubbles: true, detail: row.id }));
      return [
        h("p", { class: "refused", "data-testid": "error", role: "alert" }, row.error),
        h(
          "p",
          { class: "status" },
          h("button", { type: "button", class: "quiet", onclick: say("edit-message") }, words.talk.edit),
          h("button", { type: "button", class: "quiet", onclick: say("dismiss-message") }, words.talk.dismiss),
        ),
      ];
    }
    const status = words.talk.status[row.status];
    return status ? [h("p", { class: "status" }, status)] : [];
  }

  editButton(row) {
    if (row.editAt === undefined) return "";
    const edit = () => this.dispatchEvent(new CustomEvent("edit-turn", { bubbles: true, detail: row }));
    const button = iconButton("edit", words.chat.edit, edit, { "data-testid": "message-edit" });
    button.title = `${words.chat.edit}. ${words.chat.editHelp}`;
    return button;
  }
}

customElements.define("l3-user", UserMessage);
