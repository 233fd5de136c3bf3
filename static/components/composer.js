// Where a person writes: a field that grows, Send, Stop, and suggestions.

import { h, icon, keyed } from "../dom.js";
import { refusal } from "../outbox.js";

const SEND_ICON = "M10 16V4M5 9l5-5 5 5";
const STOP_ICON = "M6 6h8v8H6z";
const DRAFT_KEY = "level3.draft";

/** `<l3-composer>`: `data = { busy, stopping, waits, connected, suggestions }`; sends `send-message` (detail: the text) and `stop-turns`. */
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
    this.stopButton = h(
      "button",
      { type: "button", class: "stop", "data-testid": "stop", hidden: true, onclick: stop },
      icon(STOP_ICON),
      h("span", {}, "Stop"),
    );
    this.hint = h("p", { id: "composer-hint", class: "hint" });
    this.chips = h("div", { class: "chips", role: "group", "aria-label": "Suggestions" });
    const form = h("form", {}, this.text, h("div", { class: "composer-buttons" }, this.stopButton, this.sendButton));
    this.append(this.chips, form, this.hint);

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    form.addEventListener("click", (event) => event.target === form && this.text.focus());
    this.text.addEventListener("keydown", (event) => this.keyPressed(event));
    this.text.addEventListener("input", () => this.changed());
    this.write(readDraft());
    if (matchMedia("(hover: hover)").matches) this.text.focus();
  }

  set data(data) {
    this.shown = data;
    const { busy, stopping, connected, suggestions } = data;
    this.stopButton.hidden = !busy;
    this.stopButton.disabled = stopping || !connected;
    this.stopButton.lastElementChild.textContent = stopping ? "Stopping…" : "Stop";
    const rows = suggestions.map((text) => ({ key: text, text }));
    keyed(this.chips, rows, ({ text }) =>
      h("button", { type: "button", class: "chip", onclick: () => this.send(text) }, text),
    );
    this.chips.hidden = rows.length === 0;
    this.explain();
  }

  keyPressed(event) {
    // While an input method composes a word, Enter chooses it; 229 is what older browsers say then.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    this.submit();
  }

  submit() {
    const content = this.text.value.trim();
    const reason = refusal(content);
    if (reason) {
      if (content !== "") this.say(reason, true);
      return;
    }
    this.write("");
    this.send(content);
  }

  send(content) {
    this.dispatchEvent(new CustomEvent("send-message", { bubbles: true, detail: content }));
  }

  /** Puts `content` into the field, for writing on. */
  write(content) {
    this.text.value = content;
    this.changed();
  }

  changed() {
    this.sendButton.disabled = this.text.value.trim() === "";
    keepDraft(this.text.value);
    if (!CSS.supports("field-sizing", "content")) {
      this.text.style.height = "auto";
      this.text.style.height = `${this.text.scrollHeight}px`;
    }
    this.explain();
  }

  explain() {
    if (!this.shown) return;
    const writes = this.text.value !== "";
    this.hint.classList.toggle("waiting", this.shown.waits > 0);
    if (this.shown.waits > 0) {
      this.say(
        this.shown.waits === 1
          ? "Messages here wait for your approval above. CONFIRMAR or CANCELAR (yes or no) decides it as well."
          : "Messages here wait for your approvals above.",
      );
      return;
    }
    if (this.shown.busy && writes) this.say("A turn is at work. What you send now waits its turn.");
    else if (writes) this.say("Enter sends, Shift + Enter starts a new line.");
    else this.say("Answers can be wrong. What is done is on record.");
  }

  say(text, wrong = false) {
    if (this.hint.textContent !== text) this.hint.textContent = text;
    this.hint.classList.toggle("wrong", wrong);
  }
}

function readDraft() {
  try {
    return sessionStorage.getItem(DRAFT_KEY) ?? "";
  } catch {
    return "";
  }
}

function keepDraft(text) {
  try {
    sessionStorage.setItem(DRAFT_KEY, text);
  } catch {
    // A draft that cannot be kept is lost on reload, no more.
  }
}

customElements.define("l3-composer", Composer);
