// Where a person writes: a field that grows, Send, Stop, and suggestions.

import { h, icon, keyed } from "../dom.js";
import { joined } from "../draft.js";
import { IMAGE_TYPES, MAX_IMAGES, readImages } from "../images.js";
import { refusal } from "../outbox.js";
import { thumbnails } from "./thumbnails.js";

const SEND_ICON = "M10 16V4M5 9l5-5 5 5";
const IMAGE_ICON = "M3 5h14v10H3zM3 13l4-4 3.5 3.5L13 10l4 4M13 8v.2";
const STOP_ICON = "M6 6h8v8H6z";

/**
 * `<l3-composer>`: `data = { busy, stopping, waits, words, declines, connected, suggestions, conversation, blind }`, `blind` where the model cannot see, `drafts` from `createDrafts`; sends
 * `send-message` (detail: `{ content, steer, images }`) and `stop-turns`.
 */
export class Composer extends HTMLElement {
  connectedCallback() {
    this.images = [];
    this.text = h("textarea", {
      id: "composer-text",
      "data-testid": "composer",
      rows: "1",
      dir: "auto",
      placeholder: "Message level3",
      "aria-label": "Message",
      "aria-describedby": "composer-hint",
      autocomplete: "off",
      enterkeyhint: "send",
    });
    this.sendButton = h(
      "button",
      { type: "submit", class: "send", "data-testid": "send", disabled: true },
      icon(SEND_ICON, "Send"),
    );
    const stop = () => this.dispatchEvent(new CustomEvent("stop-turns", { bubbles: true }));
    this.steerButton = h(
      "button",
      { type: "button", class: "steer", "data-testid": "steer", hidden: true, onclick: () => this.submit(true) },
      "Show it to the running turn",
    );
    this.stopButton = h(
      "button",
      { type: "button", class: "stop", "data-testid": "stop", hidden: true, onclick: stop },
      icon(STOP_ICON),
      h("span", {}, "Stop"),
    );
    this.strip = h("div", { class: "strip", hidden: true, "data-testid": "images" });
    this.note = h("p", { class: "images-note", role: "status", hidden: true, "data-testid": "images-note" });
    this.file = h("input", { type: "file", accept: IMAGE_TYPES.join(","), multiple: true, hidden: true });
    this.imageButton = h(
      "button",
      { type: "button", class: "image", "data-testid": "add-image", onclick: () => this.file.click() },
      icon(IMAGE_ICON, "Add images"),
    );
    this.hint = h("p", { id: "composer-hint", class: "hint" });
    this.chips = h("div", { class: "chips", role: "group", "aria-label": "Suggestions" });
    const buttons = [this.steerButton, this.stopButton, this.sendButton];
    const form = h("form", {}, this.imageButton, this.file, this.text, h("div", { class: "composer-buttons" }, buttons));
    this.append(this.chips, this.strip, this.note, form, this.hint);

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    form.addEventListener("click", (event) => event.target === form && this.text.focus());
    this.file.addEventListener("change", () => {
      this.add([...this.file.files]);
      this.file.value = "";
    });
    this.text.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      this.add(files);
    });
    this.text.addEventListener("keydown", (event) => this.keyPressed(event));
    this.text.addEventListener("input", () => this.changed());
    if (matchMedia("(hover: hover)").matches) this.text.focus();
  }

  /** Where drafts are kept; what was kept comes back into the field. */
  set drafts(drafts) {
    this.kept = drafts;
    this.images = drafts.images();
    this.write(drafts.text());
    this.showImages();
  }

  /** Adds images from files; what is not taken is said. */
  async add(files) {
    const { images, problems } = await readImages(files, this.images.length);
    this.images = [...this.images, ...images].slice(0, MAX_IMAGES);
    this.showImages();
    this.changed();
    if (problems.length > 0) this.say(problems.join(" "), true);
    this.text.focus();
  }

  showImages() {
    this.strip.hidden = this.images.length === 0;
    const remove = (index) => {
      this.images = this.images.filter((_, at) => at !== index);
      this.showImages();
      this.changed();
      this.text.focus();
    };
    this.strip.replaceChildren(...(this.images.length > 0 ? [thumbnails(this.images, remove)] : []));
    this.kept?.keepImages(this.images);
    this.warn();
  }

  /** Says beforehand that the model cannot see. Nothing is forbidden: another model may be in use when the message is read. */
  warn() {
    const blind = this.shown?.blind;
    this.imageButton.title = blind ? `Add images. ${blind}` : "Add images";
    const text = this.images.length > 0 ? (blind ?? "") : "";
    if (this.note.textContent !== text) this.note.textContent = text;
    this.note.hidden = text === "";
  }

  set data(data) {
    this.shown = data;
    const { busy, stopping, connected, suggestions, conversation } = data;
    if (conversation !== undefined) {
      const text = this.kept.opened(conversation, this.text.value);
      if (text !== this.text.value) this.write(text);
    }
    this.stopButton.hidden = !busy;
    this.stopButton.disabled = stopping || !connected;
    this.stopButton.lastElementChild.textContent = stopping ? "Stopping…" : "Stop";
    const rows = suggestions.map((text) => ({ key: text, text }));
    keyed(this.chips, rows, ({ text }) =>
      h("button", { type: "button", class: "chip", onclick: () => this.send(text, false) }, text),
    );
    this.chips.hidden = rows.length === 0;
    this.warn();
    this.explain();
  }

  keyPressed(event) {
    // While an input method composes a word, Enter chooses it; 229 is what older browsers say then.
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    const busy = this.shown?.busy === true;
    if (event.shiftKey && !busy) return; // a new line
    event.preventDefault();
    // While a turn runs, Shift + Enter has another meaning, so a new line has another key.
    if (event.altKey && busy) this.newLine();
    else this.submit(event.shiftKey);
  }

  newLine() {
    const { selectionStart, selectionEnd } = this.text;
    this.text.setRangeText("\n", selectionStart, selectionEnd, "end");
    this.changed();
  }

  /** Sends what is written; with `steer`, the running turn is shown it and it does not wait its turn. */
  submit(steer = false) {
    const content = this.text.value.trim();
    const reason = refusal(content, this.images.length);
    if (reason) {
      if (content !== "") this.say(reason, true);
      return;
    }
    const { images } = this;
    this.images = [];
    this.showImages();
    this.write("");
    this.send(content, steer, images);
  }

  send(content, steer, images = []) {
    this.dispatchEvent(new CustomEvent("send-message", { bubbles: true, detail: { content, steer, images } }));
  }

  /** Puts a message back into the field, in front of what was begun meanwhile. */
  giveBack(content, images = []) {
    this.images = [...images, ...this.images].slice(0, MAX_IMAGES);
    this.showImages();
    this.write(joined(content, this.text.value));
  }

  /** Puts `content` into the field, for writing on. */
  write(content) {
    this.text.value = content;
    this.changed();
  }

  changed() {
    this.sendButton.disabled = this.isEmpty();
    this.kept?.keep(this.text.value);
    if (!CSS.supports("field-sizing", "content")) {
      this.text.style.height = "auto";
      this.text.style.height = `${this.text.scrollHeight}px`;
    }
    this.explain();
  }

  isEmpty() {
    return this.text.value.trim() === "" && this.images.length === 0;
  }

  explain() {
    if (!this.shown) return;
    const writes = this.text.value !== "" || this.images.length > 0;
    // While a question waits, whatever is said goes into its turn.
    this.steerButton.hidden = !this.shown.busy || this.isEmpty() || this.shown.declines;
    this.hint.classList.toggle("waiting", this.shown.waits > 0);
    if (this.shown.waits > 0) {
      this.say(
        this.shown.waits === 1
          ? `${this.shown.declines ? "The question above waits for you." : "Messages here wait for your approval above."} ${this.shown.words}`.trim()
          : "Messages here wait for your approvals above.",
      );
      return;
    }
    if (this.shown.busy && writes)
      this.say("Enter: it waits its turn. Shift + Enter: the running turn sees it at its next step. Alt + Enter: new line.");
    else if (writes) this.say("Enter sends, Shift + Enter starts a new line.");
    else this.say("Answers can be wrong. What is done is on record.");
  }

  say(text, wrong = false) {
    if (this.hint.textContent !== text) this.hint.textContent = text;
    this.hint.classList.toggle("wrong", wrong);
  }
}

customElements.define("l3-composer", Composer);
