// One message of a transcript: who said it, when, how far it got, and what a person does about one
// of which nobody knows.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { decimal } from "../core/numbers.js";
import { localTime, shortTime } from "../core/times.js";
import { button } from "../ui/button.js";
import { exactNodes } from "../ui/exact.js";
import { relay as said } from "./words.js";

/** Marks beside the words, for a quick look. */
const MARKS = { queued: "◷", sending: "↑", sent: "✓", delivered: "✓✓", read: "✓✓", failed: "✕", unknown: "?", cancelled: "–" };

/**
 * `<l3-relay-message>`: `data` is a row with a `message`, and `linked` if its instance is to be named. It says `relay-resend` and `relay-settle`
 * (with `as`) about it.
 */
export class RelayMessage extends HTMLElement {
  set data({ message, linked }) {
    this.message = message;
    const { id, said_by: by, text, delivery, instance, cut, media, reason } = message;
    const part = this.contains(document.activeElement) ? document.activeElement.dataset.part : undefined;
    this.setAttribute("role", "listitem");
    Object.assign(this.dataset, { message: id, by, delivery: delivery ?? "" });
    const head = h("div", { class: "relay-message-head" }, h("strong", {}, said.saidBy[by] ?? by), message.follow_up ? h("span", {}, said.followUp) : "", h("time", { datetime: message.at, title: localTime(message.at) }, shortTime(message.at)));
    // A message without an instance is the operator's.
    if (linked) head.append(instance === undefined ? h("a", { href: addressOf("operator") }, said.unknownOfOperator) : h("a", { href: addressOf("relay", instance) }, said.unknownIn(instance)));
    this.replaceChildren(
      head,
      h("p", { class: "relay-text", dir: "auto" }, exactNodes(text)),
      cut ? h("p", { class: "relay-note" }, said.cut) : "",
      media ? h("p", { class: "relay-note" }, (media.omitted ? said.fileOmitted : said.file)(media.type, sizeOf(media.bytes))) : "",
      delivery ? this.mark(delivery, reason) : "",
      delivery === "unknown" ? this.deeds() : "",
    );
    if (!part) return;
    const again = this.querySelector(`[data-part="${part}"]`);
    // The button may be gone with the question; the message itself takes its focus.
    if (!again) this.tabIndex = -1;
    (again ?? this).focus();
  }

  mark(delivery, reason) {
    const word = h("span", { class: "relay-delivery", "data-testid": "relay-delivery" }, h("span", { "aria-hidden": "true" }, MARKS[delivery] ?? ""), " ", said.delivery[delivery] ?? delivery);
    return h("p", { class: "relay-note" }, word, reason ? h("span", { dir: "auto" }, exactNodes(`: ${reason}`)) : "");
  }

  deeds() {
    const say = (type, as) => () => new Promise((done) => this.dispatchEvent(new CustomEvent(type, { bubbles: true, detail: { message: this.message, as, done } })));
    const label = said.settleOf(this.message.text.slice(0, 60));
    const part = (name) => ({ "data-part": name, "data-testid": `relay-${name}` });
    return h("div", { class: "relay-deeds", role: "group", "aria-label": label }, button(said.resend, say("relay-resend"), part("resend")), button(said.wasSent, say("relay-settle", "sent"), part("was-sent")), button(said.wasLost, say("relay-settle", "lost"), part("was-lost")));
  }
}
customElements.define("l3-relay-message", RelayMessage);

const sizeOf = (bytes) => (bytes < 1_048_576 ? `${Math.ceil(bytes / 1024)} KB` : `${decimal(bytes / 1_048_576, 1)} MB`);

/** A row for `keyed`. */
export const messageRow = (message, linked = false) => ({ key: message.id, message, linked, told: JSON.stringify(message) });

/** Makes the element. */
export const makeMessage = () => document.createElement("l3-relay-message");
