// A message of a person.

import { h, sameFields } from "../core/dom.js";
import { words } from "../core/words.js";
import { button, iconButton } from "../ui/button.js";
import { messageNodes } from "./file-block.js";
import { thumbnails } from "./thumbnails.js";

/** `<l3-user>`: a bubble; `data` is a row of kind `user`. Sends `edit-message` and `dismiss-message` for a refused one. */
export class UserMessage extends HTMLElement {
  set data(row) {
    this.row = row;
    this.line ??= this.build();
    this.dataset.status = row.status ?? "accepted";
    this.dataset.steered = String(row.steered === true);
    if (this.shownContent !== row.content) {
      this.shownContent = row.content;
      this.bubble.replaceChildren(h("span", { class: "visually-hidden" }, words.chat.you), ...messageNodes(row.content));
    }
    if (this.shownImages !== row.images) {
      this.shownImages = row.images;
      this.pictures?.remove();
      this.pictures = row.images?.length > 0 ? thumbnails(row.images) : undefined;
      if (this.pictures) this.prepend(this.pictures);
    }
    this.bubble.hidden = row.content === "" && this.pictures !== undefined;
    this.offerEdit(row.editAt !== undefined);
    this.tell(row);
  }

  build() {
    this.className = "row user";
    this.dataset.testid = "message-user";
    this.bubble = h("div", { class: "bubble", dir: "auto" });
    const line = h("div", { class: "message-line" }, this.bubble);
    this.append(line);
    return line;
  }

  /** The part below the bubble, made anew only if it says something else: a button in it may have the focus. */
  tell({ status, error }) {
    if (sameFields(this.told, { status, error })) return;
    this.below?.forEach((node) => node.remove());
    this.told = { status, error };
    this.below = this.footOf(this.row);
    this.append(...this.below);
  }

  footOf(row) {
    if (row.status === "refused") {
      const say = (type) => () => this.dispatchEvent(new CustomEvent(type, { bubbles: true, detail: this.row.id }));
      return [
        h("p", { class: "refused", "data-testid": "error", role: "alert" }, row.error),
        h("p", { class: "status" }, button(words.talk.edit, say("edit-message"), { kind: "quiet" }), button(words.talk.dismiss, say("dismiss-message"), { kind: "quiet" })),
      ];
    }
    const status = words.talk.status[row.status];
    return status ? [h("p", { class: "status" }, status)] : [];
  }

  offerEdit(offered) {
    if (offered === (this.edit !== undefined)) return;
    this.edit?.remove();
    this.edit = offered ? this.editButton() : undefined;
    if (this.edit) this.line.prepend(this.edit);
  }

  editButton() {
    const edit = () => this.dispatchEvent(new CustomEvent("edit-turn", { bubbles: true, detail: this.row }));
    const button = iconButton("edit", words.chat.edit, edit, { "data-testid": "message-edit" });
    button.title = `${words.chat.edit}. ${words.chat.editHelp}`;
    return button;
  }
}

customElements.define("l3-user", UserMessage);
