// An approval: a card that shows everything and asks, and after the decision one line that opens
// again. Approve works only once all of the card has been in sight and has stood still for a
// moment, and nothing ever moves the focus to it.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { decisionLine } from "../core/format.js";
import { serverNow } from "../core/server-clock.js";
import { decidingWords } from "../core/text.js";
import { expiryLine } from "../core/times.js";
import { words } from "../core/words.js";
import { approvalBody, approvalParts, approvalSaid } from "./approval-body.js";
import { approval as said } from "./approval-words.js";
import { Arming, told } from "./arming.js";
import { exactNodes } from "./exact.js";
import { SHIELD } from "./icons-more.js";
import { iconOf } from "./icons.js";

let count = 0;

/**
 * `<l3-approval>`: `data` is a row as `core/approvals.js` makes it; with `conversation` it stands outside its conversation and names it. Sends
 * `decide` (detail: `{ approval, decision, reason }`).
 */
export class Approval extends HTMLElement {
  set data(row) {
    const before = told(this, row, "approval");
    if (row.state === "pending" && row.shown) {
      // A decision that did not arrive leaves the person where they were; the card is made once.
      if (before?.state !== "pending" || !before.shown) this.ask();
      this.refresh();
    } else if (before?.state !== row.state || before?.shown !== row.shown || before?.decidedAt !== row.decidedAt) {
      this.settle();
    }
  }

  disconnectedCallback() {
    this.stopWatching();
  }

  connectedCallback() {
    // A card that was taken out and put in again has to be looked at anew.
    if (this.row?.state === "pending" && this.row.shown && !this.arming) this.watch();
  }

  ask() {
    const { id, shown } = this.row;
    const titleId = `approval-title-${(count += 1)}`;
    this.heading = h("h2", { id: titleId, tabindex: "-1" }, said.title);
    this.beginning = h("header", {}, iconOf(SHIELD), this.heading, h("code", { class: "approval-tool" }, exactNodes(shown.tool)), this.where());
    const body = h("div", { class: "approval-body" }, approvalSaid(shown));
    const parts = approvalParts(shown);
    // Each part ends in a mark: once that was in sight, the part was, to its end.
    this.ends = [h("i", { class: "approval-end" }), ...parts.map(() => h("i", { class: "approval-end" }))];
    parts.forEach((part, index) => part.append(this.ends[index + 1]));
    const rest = h("div", { class: "approval-body" }, parts);
    const form = this.form(id);
    this.replaceChildren(
      h("section", { class: "approval-card", role: "group", "aria-labelledby": titleId }, this.beginning, body, form, this.ends[0], rest),
    );
    this.watch();
  }

  /** The conversation where it waits, if this is another place. */
  where() {
    const { conversation } = this.row;
    if (conversation === undefined) return "";
    this.place = h("a", { class: "approval-where", dir: "auto", href: addressOf("chat", String(conversation)) });
    return this.place;
  }

  form(id) {
    const { conversation, shown, expiresAt } = this.row;
    this.notYet = h("span", { class: "approval-not-yet", id: `approval-not-yet-${count}` });
    this.expiry = h("time", { datetime: expiresAt });
    this.deny = h("button", { type: "submit", class: "deny", "data-testid": "approval-deny" }, said.deny);
    this.approve = this.button(said.approve, "approve", "approval-approve");
    this.always = shown.canAlways ? this.button(said.always, "always", "approval-always") : undefined;
    this.reason = h("input", {
      id: `approval-reason-${id}-${count}`,
      "data-testid": "approval-reason",
      placeholder: said.reason,
      "aria-label": said.reasonLabel,
      autocomplete: "off",
      maxlength: "2000",
      dir: "auto",
    });
    // A word decides where the approval waits, and not from elsewhere.
    const byWord = conversation === undefined ? decidingWords(shown.words) : "";
    const form = h(
      "form",
      { class: "approval-form" },
      this.reason,
      h("div", { class: "approval-buttons" }, this.deny, this.approve, this.always),
      h("p", { class: "approval-foot" }, this.notYet, expiresAt ? this.expiry : ""),
      h("p", { class: "approval-words", "data-testid": "approval-words" }, byWord),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.decide("deny");
    });
    return form;
  }

  /** A button that allows. It takes the focus before it works, and says why it does not yet. */
  button(text, decision, testid) {
    const button = h("button", { type: "button", class: decision, "aria-disabled": "true", "aria-describedby": this.notYet.id, "data-testid": testid }, text);
    let begun;
    const begin = () => (begun = this.arming?.armed === true);
    button.addEventListener("pointerdown", begin);
    button.addEventListener("keydown", (event) => {
      // A key that is held down since before the focus came here was meant for something else.
      if (event.repeat) event.preventDefault();
      else if (event.key === "Enter" || event.key === " ") begin();
    });
    button.addEventListener("click", () => {
      // Pressed before it worked and let go after: not meant for what it is now.
      const isMeant = begun !== false;
      begun = undefined;
      if (isMeant && this.arming?.armed) this.decide(decision);
    });
    return button;
  }

  decide(decision) {
    const { id, sending, connected } = this.row;
    if (sending || !connected) return;
    const reason = decision === "deny" ? this.reason.value.trim() || undefined : undefined;
    this.dispatchEvent(new CustomEvent("decide", { bubbles: true, detail: { approval: id, decision, reason } }));
  }

  /** Looks at what is in sight, and lets Approve work when everything needed was. */
  watch() {
    this.stopWatching();
    const arming = new Arming(() => this.refresh());
    this.arming = arming;
    for (const end of this.ends) arming.needs(end);
    this.watcher = new IntersectionObserver(
      (entries) => {
        for (const { target, intersectionRatio } of entries) {
          const seen = intersectionRatio > 0.95;
          if (target === this.approve) arming.buttonSeen(seen);
          else if (seen) this.saw(target);
        }
      },
      { threshold: [0, 0.96, 1] },
    );
    for (const target of [this.beginning, this.approve, ...this.ends]) this.watcher.observe(target);
    arming.pageSeen(!document.hidden);
    this.listeners = new AbortController();
    const { signal } = this.listeners;
    document.addEventListener("visibilitychange", () => arming.pageSeen(!document.hidden), { signal });
    // The click that brings a window to the front is not a decision.
    addEventListener("focus", () => arming.startOver(), { signal });
    this.addEventListener("unfolded", () => this.lookAgain(), { signal });
    this.timer = setInterval(() => this.refreshTime(), 1000);
  }

  saw(target) {
    // The end of what is folded says nothing of what is inside.
    if (target.closest(".approval-part")?.querySelector("[data-folded]")) return;
    target.toggleAttribute("data-seen", true);
    this.arming?.partSeen(target === this.beginning ? "beginning" : target);
  }

  /** Something was opened: its end may be in sight without having moved. */
  lookAgain() {
    for (const end of this.ends) {
      this.watcher.unobserve(end);
      this.watcher.observe(end);
    }
    this.refresh();
  }

  stopWatching() {
    this.watcher?.disconnect();
    this.listeners?.abort();
    this.arming?.stop();
    clearInterval(this.timer);
    this.arming = undefined;
  }

  refresh() {
    if (this.row.state !== "pending") return;
    const { sending, connected } = this.row;
    const open = !sending && connected;
    const armed = open && this.arming?.armed === true;
    for (const button of [this.approve, this.always]) if (button) able(button, armed);
    this.dataset.armed = armed ? "true" : open ? this.arming?.reason : "false";
    able(this.deny, open);
    // Deny works, whatever keeps Approve from working.
    if (open) this.deny.removeAttribute("aria-describedby");
    else this.deny.setAttribute("aria-describedby", this.notYet.id);
    // Not `disabled`: the focus would be lost while it is sent.
    this.reason.readOnly = Boolean(sending);
    const text = sending ? said.sending[sending] : connected ? this.why() : said.offline;
    if (this.notYet.textContent !== text) this.notYet.textContent = text;
    // The title of a conversation may be known later than the question.
    const { conversation, title } = this.row;
    if (conversation !== undefined) this.place.textContent = said.in(title || words.dock.conversation(conversation));
    this.refreshTime();
  }

  /** Why Approve does not work yet. */
  why() {
    const reason = this.arming?.reason;
    const folded = this.querySelectorAll("[data-folded]").length;
    if (reason === "rest") return folded > 0 ? said.folded(folded) : said.rest;
    return { unread: said.unread, soon: said.soon }[reason] ?? "";
  }

  refreshTime() {
    const text = this.row.expiresAt ? expiryLine(this.row.expiresAt, serverNow()) : "";
    if (this.expiry.textContent !== text) this.expiry.textContent = text;
  }

  /** After the decision: one line, which opens to what was shown. */
  settle() {
    const { shown, reason, channel } = this.row;
    const hadFocus = this.contains(document.activeElement);
    this.stopWatching();
    delete this.dataset.armed;
    const line = h("span", { class: "approval-said" }, decisionLine(this.row));
    const tool = shown ? h("code", { class: "approval-tool" }, exactNodes(shown.tool)) : "";
    // The words that were said instead stand in the conversation itself.
    const why = reason && channel !== "instead" ? h("span", { class: "approval-reason", dir: "auto" }, "“", exactNodes(reason), "”") : "";
    if (!shown) {
      this.replaceChildren(h("p", { class: "approval-line" }, iconOf(SHIELD), line, why));
      return;
    }
    const summary = h("summary", { class: "approval-line" }, iconOf("next"), line, tool, why);
    const body = h("div", { class: "approval-body" });
    const card = h("details", {}, summary, body);
    card.addEventListener("toggle", () => card.open && !body.firstChild && body.append(...approvalBody(shown)));
    this.replaceChildren(card);
    if (hadFocus) summary.focus({ preventScroll: true });
  }
}

/** Not `disabled`: a button that does not work yet is found with Tab, and one that was pressed keeps the focus. */
function able(button, is) {
  if (is) button.removeAttribute("aria-disabled");
  else button.setAttribute("aria-disabled", "true");
}

customElements.define("l3-approval", Approval);
