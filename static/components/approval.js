// An approval: a card that shows everything and asks, and after the decision one line that opens again. Approve works only once the
// card was read from its beginning and has stood still for a moment, and nothing ever moves the focus to it.

import { Arming } from "../arming.js";
import { h, icon } from "../dom.js";
import { exactNodes } from "../exact.js";
import { decidingWords, decisionLine } from "../format.js";
import { expiryLine } from "../times.js";
import { approvalBody } from "./approval-body.js";

const SHIELD = "M10 2.8l6 2.2v4.6c0 3.6-2.4 6.1-6 7.6-3.6-1.5-6-4-6-7.6V5zM10 7v3.4M10 12.8v.2";
const ARROW = "M7.5 5l5 5-5 5";
const SENDING_WORDS = { approve: "Approving…", always: "Approving…", deny: "Denying…" };
const NOT_YET = {
  unread: "Approve works once the beginning of this card has been in sight.",
  soon: "Approve works in a moment.",
};
let count = 0;

/** `<l3-approval>`: `data` is a row of kind `approval`. Sends `decide` (detail: `{ approval, decision, reason }`). */
export class Approval extends HTMLElement {
  set data(row) {
    const before = this.row;
    this.row = row;
    this.className = "row approval";
    this.dataset.testid = "approval";
    this.dataset.approval = row.id;
    this.dataset.state = row.state;
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

  ask() {
    const { id, conversation, shown, expiresAt } = this.row;
    const titleId = `approval-title-${(count += 1)}`;
    const where = conversation === undefined ? "" : ` in conversation ${conversation}`;
    this.heading = h("h3", { id: titleId, tabindex: "-1" }, `level3 asks for your approval${where}`);
    this.beginning = h(
      "header",
      {},
      icon(SHIELD),
      this.heading,
      h("code", { class: "approval-tool" }, exactNodes(shown.tool)),
    );
    this.approve = this.button("Approve", "approve", "approval-approve");
    this.always = shown.canAlways ? this.button("Always for this capability", "always", "approval-always") : undefined;
    this.deny = h("button", { type: "submit", class: "deny", "data-testid": "approval-deny" }, "Deny");
    this.reason = h("input", {
      id: `approval-reason-${id}`,
      "data-testid": "approval-reason",
      placeholder: "Reason, for the assistant (optional)",
      "aria-label": "Reason for denying, for the assistant (optional)",
      autocomplete: "off",
      maxlength: "2000",
      dir: "auto",
    });
    this.notYet = h("span", { class: "approval-not-yet" });
    this.expiry = h("time", { datetime: expiresAt });
    const form = h(
      "form",
      { class: "approval-form" },
      h("div", { class: "approval-deny-row" }, this.reason, this.deny),
      h("div", { class: "approval-approve-row" }, this.approve, this.always),
      // A word decides where the approval waits, and not from here.
      h("p", { class: "approval-words", "data-testid": "approval-words" }, conversation === undefined ? decidingWords(shown.words) : ""),
      h("p", { class: "approval-foot" }, this.notYet, expiresAt ? this.expiry : ""),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.decide("deny");
    });
    const body = h("div", { class: "approval-body" }, approvalBody(shown));
    this.replaceChildren(
      h("section", { class: "approval-card", "aria-labelledby": titleId }, this.beginning, body, form),
    );
    this.watch();
  }

  button(text, decision, testid) {
    const button = h("button", { type: "button", class: decision, disabled: true, "data-testid": testid }, text);
    button.addEventListener("click", () => this.arming?.armed && this.decide(decision));
    // A key that is held down since before the focus came here was meant for something else.
    button.addEventListener("keydown", (event) => event.repeat && event.preventDefault());
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
    this.arming = new Arming(() => this.refresh());
    this.watcher = new IntersectionObserver(
      (entries) => {
        for (const { target, intersectionRatio } of entries) {
          const seen = intersectionRatio > 0.95;
          if (target === this.approve) this.arming.buttonSeen(seen);
          else if (seen) this.arming.beginningSeen();
        }
      },
      { threshold: [0, 0.96, 1] },
    );
    this.watcher.observe(this.beginning);
    this.watcher.observe(this.approve);
    this.arming.pageSeen(!document.hidden);
    this.listeners = new AbortController();
    const { signal } = this.listeners;
    document.addEventListener("visibilitychange", () => this.arming.pageSeen(!document.hidden), { signal });
    // The click that brings a window to the front is not a decision.
    addEventListener("focus", () => this.arming.startOver(), { signal });
    this.timer = setInterval(() => this.refreshTime(), 1000);
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
    for (const button of [this.approve, this.always]) if (button) button.disabled = !armed;
    this.dataset.armed = armed ? "true" : open ? this.arming?.reason : "false";
    this.deny.disabled = !open;
    this.reason.disabled = Boolean(sending);
    const said = sending
      ? SENDING_WORDS[sending]
      : !connected
        ? "Not connected; a decision can be sent when the server is back."
        : (NOT_YET[this.arming?.reason] ?? "");
    if (this.notYet.textContent !== said) this.notYet.textContent = said;
    this.refreshTime();
  }

  refreshTime() {
    const text = this.row.expiresAt ? expiryLine(this.row.expiresAt, Date.now()) : "";
    if (this.expiry.textContent !== text) this.expiry.textContent = text;
  }

  /** After the decision: one line, which opens to what was shown. */
  settle() {
    const { shown, reason, channel } = this.row;
    const hadFocus = this.contains(document.activeElement);
    this.stopWatching();
    delete this.dataset.armed;
    const said = h("span", { class: "approval-said" }, decisionLine(this.row));
    const tool = shown ? h("code", { class: "approval-tool" }, exactNodes(shown.tool)) : "";
    // What was said instead stands in the conversation itself.
    const why = reason && channel !== "instead" ? h("span", { class: "approval-reason", dir: "auto" }, "“", exactNodes(reason), "”") : "";
    if (!shown) {
      this.replaceChildren(h("p", { class: "approval-line" }, icon(SHIELD), said, why));
      return;
    }
    const summary = h("summary", { class: "approval-line" }, icon(ARROW), said, tool, why);
    const body = h("div", { class: "approval-body" });
    const card = h("details", {}, summary, body);
    card.addEventListener("toggle", () => card.open && !body.firstChild && body.append(...approvalBody(shown)));
    this.replaceChildren(card);
    if (hadFocus) summary.focus({ preventScroll: true });
  }
}

customElements.define("l3-approval", Approval);
