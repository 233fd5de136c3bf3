// Where a person writes: a field that grows, Send, Stop, and suggestions.

import { h, icon, keyed } from "../dom.js";
import { joined } from "../draft.js";
import { refusal } from "../outbox.js";

const SEND_ICON = "M10 16V4M5 9l5-5 5 5";
const STOP_ICON = "M6 6h8v8H6z";

/**
 * `<l3-composer>`: `data = { busy, stopping, waits, connected, suggestions, conversation }`, `drafts` from `createDrafts`; sends
 * `send-message` (detail: `{ content, steer }`) and `stop-turns`.
 */
export class Composer extends HTMLElement {
  connectedCallback() {
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
    this.hint = h("p", { id: "composer-hint", class: "hint" });
    this.chips = h("div", { class: "chips", role: "group", "aria-label": "Suggestions" });
    const form = h("form", {}, this.text, h("div", { class: "composer-buttons" }, this.steerButton, this.stopButton, this.sendButton));
    this.append(this.chips, form, this.hint);

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    form.addEventListener("click", (event) => event.target === form && this.text.focus());
    this.text.addEventListener("keydown", (event) => this.keyPressed(event));
    this.text.addEventListener("input", () => this.changed());
    if (matchMedia("(hover: hover)").matches) this.text.focus();
  }

  /** Where drafts are kept; what was kept comes back into the field. */
  set drafts(drafts) {
    this.kept = drafts;
    this.write(drafts.text());
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
    const reason = refusal(content);
    if (reason) {
      if (content !== "") this.say(reason, true);
      return;
    }
    this.write("");
    this.send(content, steer);
  }

  send(content, steer) {
    this.dispatchEvent(new CustomEvent("send-message", { bubbles: true, detail: { content, steer } }));
  }

  /** Puts a message back into the field, in front of what was begun meanwhile. */
  giveBack(content) {
    this.write(joined(content, this.text.value));
  }

  /** Puts `content` into the field, for writing on. */
  write(content) {
    this.text.value = content;
    this.changed();
  }

  changed() {
    this.sendButton.disabled = this.text.value.trim() === "";
    this.kept?.keep(this.text.value);
    if (!CSS.supports("field-sizing", "content")) {
      this.text.style.height = "auto";
      this.text.style.height = `${this.text.scrollHeight}px`;
    }
    this.explain();
  }

  explain() {
    if (!this.shown) return;
    const writes = this.text.value !== "";
    this.steerButton.hidden = !this.shown.busy || this.text.value.trim() === "";
    this.hint.classList.toggle("waiting", this.shown.waits > 0);
    if (this.shown.waits > 0) {
      this.say(
        this.shown.waits === 1
          ? "Messages here wait for your approval above. CONFIRMAR or CANCELAR (yes or no) decides it as well."
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
