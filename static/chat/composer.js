// The place to write: a field that grows, Send, Stop, and suggestions.

import { h, keyed } from "../core/dom.js";
import { joined } from "./draft.js";
import { refusal } from "../core/outbox.js";
import { words } from "../core/words.js";
import { button } from "../ui/button.js";
import { iconOf } from "../ui/icons.js";
import { Attachments } from "./attachments.js";

const said = words.talk;
/** How many there are: ids are for the whole page. */
let made = 0;

/**
 * `<l3-composer>`: `data = { busy, steers, stopping, waits, words, declines, connected, suggestions, conversation, blind }`, `blind` where the model cannot see, `drafts` from `createDrafts`; sends
 * `send-message` (detail: `{ content, steer, images }`) and `stop-turns`.
 */
export class Composer extends HTMLElement {
  connectedCallback() {
    made += 1;
    const nth = made > 1 ? `-${made}` : "";
    this.with = new Attachments({
      changed: () => (this.warn(), this.changed()),
      suggest: (text) => (this.write(joined(this.text.value, text)), this.text.focus()),
      focus: () => this.text.focus(),
    });
    this.text = h("textarea", {
      id: `composer-text${nth}`,
      "data-testid": "composer",
      rows: "1",
      dir: "auto",
      placeholder: said.placeholder,
      "aria-label": said.message,
      "aria-describedby": `composer-hint${nth}`,
      autocomplete: "off",
      enterkeyhint: "send",
    });
    this.sendButton = h(
      "button",
      { type: "submit", class: "send", "data-testid": "send", disabled: true },
      iconOf("send", said.send),
    );
    const stop = () => this.dispatchEvent(new CustomEvent("stop-turns", { bubbles: true }));
    this.steerButton = button(said.steer, () => this.submit(true), { class: "steer", "data-testid": "steer", hidden: true });
    this.stopButton = button(h("span", {}, said.stop), stop, { class: "stop", "data-testid": "stop", hidden: true, icon: "stop" });
    this.note = h("p", { class: "images-note", role: "status", hidden: true, "data-testid": "images-note" });
    this.hint = h("p", { id: `composer-hint${nth}`, class: "hint" });
    this.chips = h("div", { class: "chips", role: "group", "aria-label": said.suggestions });
    const buttons = [this.steerButton, this.stopButton, this.sendButton];
    const form = h("form", {}, this.with.button, this.with.input, this.text, h("div", { class: "composer-buttons" }, buttons));
    this.append(this.chips, this.with.strip, this.note, form, this.hint);

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    form.addEventListener("pointerdown", (event) => (this.finger = event.pointerType === "touch"));
    form.addEventListener("click", (event) => event.target === form && this.text.focus());
    this.with.input.addEventListener("change", () => {
      this.add([...this.with.input.files]);
      this.with.input.value = "";
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

  /** The keeper of drafts; what was kept comes back into the field. */
  set drafts(drafts) {
    this.kept = drafts;
    const text = drafts.text();
    this.with.drafts = drafts;
    this.write(text);
  }

  /** Adds images and text files; what is not taken is said. */
  async add(files) {
    const problems = await this.with.add(files);
    if (problems.length > 0) this.say(problems.join(" "), true);
    this.text.focus();
  }

  /** Says beforehand that the model cannot see. Nothing is forbidden: another model may be in use when the message is read. */
  warn() {
    const blind = this.shown?.blind;
    const title = blind ? `${words.chat.files}. ${blind}` : words.chat.files;
    if (this.with.button.title !== title) this.with.button.title = title;
    const text = this.with.images.length > 0 ? (blind ?? "") : "";
    if (this.note.textContent !== text) this.note.textContent = text;
    this.note.hidden = text === "";
  }

  set data(data) {
    this.shown = data;
    const { busy, stopping, connected, suggestions, conversation } = data;
    if (conversation !== undefined) {
      const text = this.kept.opened(conversation, this.text.value);
      this.with.refresh();
      if (text !== this.text.value) this.write(text);
    }
    this.stopButton.hidden = this.leave(this.stopButton, !busy);
    this.stopButton.disabled = this.leave(this.stopButton, stopping || !connected);
    // The same words written once more would lay out the whole field anew with each piece of an
    // answer.
    const word = stopping ? said.stopping : said.stop;
    if (this.stopButton.lastElementChild.textContent !== word) this.stopButton.lastElementChild.textContent = word;
    const rows = suggestions.map((key) => ({ key }));
    keyed(this.chips, rows, ({ key }) => button(key, () => this.send(key, false), { class: "chip" }));
    this.chips.hidden = rows.length === 0;
    this.warn();
    this.explain();
  }

  /** Before a button goes, or works no more: it does not take the focus with it. A finger that pressed it wants no keyboard on the screen. */
  leave(button, isOff) {
    if (isOff && document.activeElement === button && (!this.finger || button.matches(":focus-visible"))) this.text.focus();
    return isOff;
  }

  keyPressed(event) {
    // While an input method composes a word, Enter chooses it; 229 is what older browsers say then.
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    if (event.shiftKey && !this.shown?.steers) return; // a new line
    event.preventDefault();
    // While a turn can be steered, Shift + Enter steers it, so a new line has another key. It never
    // sends: a question that comes, or the end of the turn, may meet a person in mid-sentence.
    if (event.altKey) this.newLine();
    else this.submit(event.shiftKey);
  }

  newLine() {
    this.text.setRangeText("\n", this.text.selectionStart, this.text.selectionEnd, "end");
    this.changed();
  }

  /** Sends what is written; with `steer`, the running turn is shown it and it does not wait its turn. */
  async submit(steer = false) {
    const written = this.text.value.trim();
    // At once if there are none: what is written must not be sent twice.
    const content = this.with.files.length > 0 ? await this.with.withFiles(written) : written;
    if (this.text.value.trim() !== written) return;
    const reason = refusal(content, this.with.images.length);
    if (reason) {
      if (content !== "") this.say(reason, true);
      return;
    }
    const { images } = this.with.take();
    this.write("");
    this.send(content, steer, images);
  }

  send(content, steer, images = []) {
    this.dispatchEvent(new CustomEvent("send-message", { bubbles: true, detail: { content, steer, images } }));
  }

  /** Puts a message back into the field, in front of what was begun meanwhile. */
  giveBack(content, images = []) {
    this.with.giveBack(images);
    this.write(joined(content, this.text.value));
  }

  /** Puts `content` into the field, for writing on. */
  write(content) {
    this.text.value = content;
    this.changed();
  }

  changed() {
    if (!this.sendButton) return;
    this.sendButton.disabled = this.leave(this.sendButton, this.isEmpty());
    this.kept?.keep(this.text.value);
    if (!CSS.supports("field-sizing", "content")) {
      this.text.style.height = "auto";
      this.text.style.height = `${this.text.scrollHeight}px`;
    }
    this.explain();
  }

  isEmpty() {
    return this.text.value.trim() === "" && this.with.isEmpty;
  }

  explain() {
    if (!this.shown) return;
    this.steerButton.hidden = this.leave(this.steerButton, !this.shown.steers || this.isEmpty());
    this.hint.classList.toggle("waiting", this.shown.waits > 0);
    if (this.shown.waits > 0)
      this.say(this.shown.waits > 1 ? said.approvalsWait : `${this.shown.declines ? said.questionWaits : said.approvalWaits} ${this.shown.words}`.trim());
    else this.say(this.text.value === "" && this.with.isEmpty ? said.standing : this.shown.steers ? said.keysBusy : said.keys);
  }

  say(text, wrong = false) {
    if (this.hint.textContent !== text) this.hint.textContent = text;
    this.hint.classList.toggle("wrong", wrong);
  }
}

customElements.define("l3-composer", Composer);
