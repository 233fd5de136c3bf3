// The conversation: one element a row, kept in step with the state, and the scrolling around it.

import { h, icon, keyed } from "../dom.js";
import "./approval.js";
import "./message.js";
import "./note.js";
import "./tool-card.js";

const ELEMENTS = { user: "l3-user", assistant: "l3-assistant", tool: "l3-tool", approval: "l3-approval" };
/** Closer to the end than this counts as "at the end". */
const NEAR_END_PX = 60;
const TOP_MARGIN_PX = 12;
const DOWN_ICON = "M10 4v12M5 11l5 5 5-5";

/** `<l3-messages>`: `data = { rows, hasEarlier, greeting }`; sends `load-earlier`. */
export class Messages extends HTMLElement {
  connectedCallback() {
    this.earlier = h(
      "button",
      { type: "button", class: "quiet earlier", hidden: true, onclick: () => this.askEarlier() },
      "Show earlier messages",
    );
    // A log is live by itself; here a status line of its own announces finished messages, so that deltas are not read out.
    this.list = h("div", {
      class: "rows",
      role: "log",
      "aria-live": "off",
      "aria-label": "Conversation",
      "data-testid": "messages",
    });
    this.greeting = h("div", { class: "greeting", hidden: true });
    this.page = h("div", { class: "scroll-page" }, this.earlier, this.greeting, this.list);
    this.scroller = h("div", { class: "scroller", tabindex: "-1" }, this.page);
    this.newer = h(
      "button",
      { type: "button", class: "newer", hidden: true, onclick: () => this.toEnd() },
      icon(DOWN_ICON),
      h("span", {}, "New messages"),
    );
    this.append(this.scroller, this.newer);
    this.sticks = true;
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.list.addEventListener("click", (event) => this.opened(event), true);
    // Whatever changes heights (a card opened, a picture, the window): who was at the end stays there.
    new ResizeObserver(() => this.sticks && this.toEnd()).observe(this.page);
    new ResizeObserver(() => this.sticks && this.toEnd()).observe(this.scroller);
  }

  set data({ rows, hasEarlier, greeting }) {
    const anchor = this.sticks ? undefined : this.rowInSight();
    const anchorTop = anchor?.getBoundingClientRect().top;
    const last = this.lastKey;
    const wasEmpty = this.count === 0;
    this.count = rows.length;
    this.lastKey = rows.at(-1)?.key;
    keyed(this.list, rows, (row) => document.createElement(ELEMENTS[row.kind] ?? "l3-note"));
    this.earlier.hidden = !hasEarlier;
    this.showGreeting(rows.length === 0 ? greeting : undefined);
    const fresh = this.freshApproval(rows);
    if (this.sticks || wasEmpty) {
      this.toEnd();
      // What is asked is read from its beginning.
      if (fresh && fresh.offsetHeight > this.scroller.clientHeight - TOP_MARGIN_PX) this.toRow(fresh);
      return;
    }
    // Rows may have come in above: what is in sight stays where it is.
    if (anchor?.isConnected) this.scroller.scrollTop += anchor.getBoundingClientRect().top - anchorTop;
    if (last !== this.lastKey) this.newer.hidden = false;
  }

  /** The element of an approval that waits and was not there before. */
  freshApproval(rows) {
    const waits = rows.filter((row) => row.kind === "approval" && row.state === "pending");
    const fresh = waits.find((row) => !this.knownApprovals?.has(row.key));
    this.knownApprovals = new Set(waits.map((row) => row.key));
    return fresh && this.list.keyedNodes.get(fresh.key);
  }

  /** Goes to the first approval that waits. */
  toApproval() {
    const card = this.list.querySelector("l3-approval[data-state=pending]");
    if (!card) return;
    this.toRow(card);
    // The heading, never a button: a key pressed now must not decide anything.
    card.heading?.focus({ preventScroll: true });
  }

  toRow(row) {
    this.sticks = false;
    const top = row.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
    this.scroller.scrollTop += top - TOP_MARGIN_PX;
  }

  showGreeting(text) {
    this.greeting.hidden = !text;
    if (text && this.shownGreeting !== text)
      this.greeting.replaceChildren(h("h2", {}, text.title), h("p", {}, text.body));
    this.shownGreeting = text;
  }

  /** The row in the middle of what is in sight; rows stand in order, so it is found by halving. */
  rowInSight() {
    const rows = this.list.children;
    const box = this.scroller.getBoundingClientRect();
    const centre = (box.top + box.bottom) / 2;
    let low = 0;
    let high = rows.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle].getBoundingClientRect().bottom > centre) high = middle;
      else low = middle + 1;
    }
    return rows[low];
  }

  askEarlier() {
    this.sticks = false;
    this.dispatchEvent(new CustomEvent("load-earlier", { bubbles: true }));
  }

  scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    const up = scrollTop < (this.lastTop ?? 0) - 1;
    this.lastTop = scrollTop;
    const atEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    // Only a movement upwards lets go: while text grows, the end moves away without anyone having scrolled.
    if (atEnd) this.sticks = true;
    else if (up) this.sticks = false;
    if (this.sticks) this.newer.hidden = true;
  }

  /** What a person opens stays under their eyes: the end may move away. */
  opened(event) {
    if (!event.target.closest("summary, .show-all")) return;
    this.sticks = false;
    requestAnimationFrame(() => requestAnimationFrame(() => this.scrolled()));
  }

  /** Goes to the end and stays there. */
  toEnd() {
    this.sticks = true;
    this.newer.hidden = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }
}

customElements.define("l3-messages", Messages);
