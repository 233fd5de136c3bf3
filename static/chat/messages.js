// The conversation: one element a row, kept in step with the state, and the scrolling around it.

import { h, keyed, sameFields } from "../core/dom.js";
import { words } from "../core/words.js";
import { button } from "../ui/button.js";
import { askEarlier, codeOnItsWay, elementOf, endsBelow, expectRows, rowInSight } from "./row-elements.js";
import { RowWindow } from "./row-window.js";

/** Closer to the end than this counts as "at the end". */
const NEAR_END_PX = 60;
const TOP_MARGIN_PX = 12;
const ANCHORS = CSS.supports("overflow-anchor", "auto");
const NONE = [];

/** `<l3-messages>`: `data = { rows, hasEarlier, greeting, waits, again }`, `waits` the keys of approvals that wait, `again()` if rows may be on their way; sends `load-earlier` (detail: what is called when they are there). */
export class Messages extends HTMLElement {
  connectedCallback() {
    this.earlier = button(words.talk.earlier, () => this.askEarlier(), { class: "quiet earlier", hidden: true });
    // A log is live by itself; here a status line of its own announces finished messages, so that
    // deltas are not read out.
    this.list = h("div", {
      class: "rows",
      role: "log",
      "aria-live": "off",
      "aria-label": words.talk.conversation,
      "data-testid": "messages",
    });
    this.greeting = h("div", { class: "greeting", hidden: true });
    this.page = h("div", { class: "scroll-page" }, this.earlier, (this.lines = h("div")), this.greeting, this.list);
    this.scroller = h("div", { class: "scroller", tabindex: "-1" }, this.page);
    this.newer = button(h("span", {}, words.talk.newer), () => this.toEnd(), { class: "newer", hidden: true, icon: "end" });
    this.append(this.scroller, this.newer);
    this.sticks = true;
    this.view = new RowWindow();
    /** key → the element of a row in which a person pressed something: it comes back as it was left. */
    this.touched = new Map();
    this.waits = NONE;
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.list.addEventListener("click", (event) => this.opened(event), true);
    this.list.addEventListener("toggle", () => (this.opening = undefined), true);
    // If heights change (a card opened, a picture, the window), a reader at the end stays there.
    const heights = new ResizeObserver(() => (this.meet(), this.sticks && this.toEnd(), this.grow()));
    for (const each of [this.page, this.scroller]) heights.observe(each);
  }

  set data({ rows, hasEarlier, greeting, waits = NONE, again }) {
    const { rows: before } = this.view;
    if (before.length === 0) Object.assign(this, { sticks: true, first: waits });
    this.waits = waits;
    this.earlier.hidden = !hasEarlier;
    this.showGreeting(rows.length === 0 ? greeting : undefined);
    expectRows(this.lines, rows.length === 0 && !greeting ? again : undefined);
    // More is written at the end: who let go of it by a press and still is there goes on with it.
    if (!this.sticks && !sameFields(before.at(-1), rows.at(-1))) this.scrolled();
    const isOther = this.view.change(rows, this.sticks);
    this.show();
    this.meet();
    if (before.at(-1)?.key !== rows.at(-1)?.key) this.newer.hidden = this.sticks || !endsBelow(this.list, this.scroller);
    if (isOther) this.grow();
  }

  /** Brings the page in step with the window. Some rows may come in above: what is in sight stays where it is. */
  show(isMove = false) {
    // The browser does it without breaking off a scrolling, only not at the very beginning.
    const anchor = this.sticks || (!isMove && ANCHORS && this.scroller.scrollTop > 0) ? undefined : rowInSight(this.list, this.scroller);
    const top = anchor?.getBoundingClientRect().top;
    this.draw();
    // A reader at the end is taken along once the page is laid out: to ask how tall it is now would
    // lay it out once more.
    if (anchor?.isConnected) this.hold(anchor.getBoundingClientRect().top - top, isMove);
  }

  /**
   * Rows in sight have moved: the gap above makes up for other heights than were thought, which breaks off no scrolling, and scrolling for what
   * came in. A browser that holds what is read by itself (some leave out a frame after a long way) finds nothing left to do.
   */
  hold(moved, isMove) {
    const left = isMove ? this.view.absorb(moved) : moved;
    if (left !== moved) this.draw();
    if (left !== 0) this.scroller.scrollTop += left;
  }

  draw() {
    const rows = this.view.shown(this.pinned());
    const nodes = (this.list.keyedNodes ??= new Map());
    for (const { key } of this.touched.size > 0 ? rows : NONE) if (this.touched.has(key) && !nodes.has(key)) nodes.set(key, this.touched.get(key));
    keyed(this.list, rows, elementOf);
  }

  /** The indices of rows that stay wherever a person scrolls: those that wait for them, and the one with the focus. */
  pinned() {
    const focus = this.list.contains(document.activeElement) ? rowAround(document.activeElement).shownRow.key : undefined;
    const keys = focus === undefined ? this.waits : [...this.waits, focus];
    const found = keys.map((key) => this.view.rows.findIndex((row) => row.key === key));
    return [...new Set(found)].filter((index) => index !== -1).sort((a, b) => a - b);
  }

  /** Makes rows around what is in sight, a few in each frame. */
  grow() {
    this.growing ??= requestAnimationFrame(() => {
      this.growing = undefined;
      if (this.fit()) this.grow();
    });
  }

  /** True if there was something to make, or to let go of. */
  fit() {
    const { clientHeight } = this.scroller;
    if (clientHeight === 0) return false;
    const coming = codeOnItsWay(this.list);
    this.coming ??= coming?.then(() => {
      this.coming = undefined;
      this.grow();
    });
    if (coming) return false;
    const origin = this.scroller.getBoundingClientRect().top;
    const box = (index) => {
      const { top, bottom } = this.nodeOf(index).getBoundingClientRect();
      return { top: top - origin, bottom: bottom - origin };
    };
    const selection = getSelection();
    const hold = selection?.isCollapsed === false && this.list.contains(selection.anchorNode);
    if (!this.view.fit(clientHeight, box, { atEnd: this.sticks, hold })) return false;
    this.show(true);
    return true;
  }

  nodeOf = (index) => this.list.keyedNodes.get(this.view.rows[index].key);

  /** The element of a row, which is made if it is not there. */
  made(index) {
    if (!this.view.has(index)) (this.view.about(index), this.draw());
    return this.nodeOf(index);
  }

  /** Takes a reader at the end to the beginning of a question that is there now: if it is too tall for the end, or stands above the end that they came to. */
  meet() {
    // It may be known before its row is there, and its row before its code.
    const there = this.waits.filter((key) => this.list.keyedNodes?.get(key)?.firstChild);
    const fresh = there.find((key) => !this.knownApprovals?.includes(key));
    this.knownApprovals = there;
    const { clientHeight } = this.scroller;
    if (!this.sticks || fresh === undefined || clientHeight === 0) return;
    const row = this.list.keyedNodes.get(fresh);
    const end = this.first.includes(fresh) ? this.page : row;
    if (end.getBoundingClientRect().bottom - row.getBoundingClientRect().top > clientHeight - TOP_MARGIN_PX) (this.toKey(fresh), (this.newer.hidden = !endsBelow(this.list, this.scroller)));
  }

  /** Goes to the first approval that waits. */
  toApproval() {
    // The heading, never a button: a key pressed now must not decide anything.
    this.toKey(this.waits[0])?.heading?.focus({ preventScroll: true });
  }

  /** Goes to the row of this key, wherever it is, and gives its element; nothing if there is none. */
  toKey(key) {
    const index = this.view.rows.findIndex((row) => row.key === key);
    if (index === -1) return undefined;
    const row = this.made(index);
    this.toRow(row);
    this.grow();
    return row;
  }

  /** True if some rows are not in the page, so that a browser does not find what stands in them. */
  get isPartial() {
    return !this.earlier.hidden || this.list.querySelector(":scope > l3-gap") !== null;
  }

  toRow(row) {
    this.sticks = false;
    const top = row.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top;
    this.scroller.scrollTop += top - TOP_MARGIN_PX;
    this.lastTop = this.scroller.scrollTop;
  }

  /** Comes into sight again: what is hidden loses its place. */
  seen() {
    // Without rows there is no end, and to go there would lay out the page.
    if (this.sticks) this.view.rows.length > 0 && this.toEnd();
    else if (this.lastTop !== undefined) this.scroller.scrollTop = this.lastTop;
    this.grow();
  }

  /** Goes to the message of a person after (1) or before (-1) the one at the top, and gives it the focus. */
  toTurn(step) {
    const { rows, from } = this.view;
    const top = this.scroller.getBoundingClientRect().top + TOP_MARGIN_PX;
    const offset = (index) => (this.view.has(index) ? this.nodeOf(index).getBoundingClientRect().top - top : index < from ? -Infinity : Infinity);
    const index = step > 0 ? rows.findIndex(({ kind }, at) => kind === "user" && offset(at) > 2) : rows.findLastIndex(({ kind }, at) => kind === "user" && offset(at) < -2);
    if (index === -1 && step > 0) this.toEnd();
    if (index === -1) return;
    const next = this.made(index);
    this.toRow(next);
    next.tabIndex = -1;
    next.focus({ preventScroll: true });
  }

  showGreeting(text) {
    this.greeting.hidden = !text;
    if (text && this.shownGreeting !== text) this.greeting.replaceChildren(h("h2", {}, text.title), h("p", {}, text.body));
    this.shownGreeting = text;
  }

  askEarlier() {
    this.sticks = false;
    askEarlier(this.earlier);
  }

  scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    // Out of sight there is no place to remember.
    if (clientHeight === 0) return;
    const up = scrollTop < (this.lastTop ?? 0) - 1;
    this.lastTop = scrollTop;
    const atEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    // Only a movement upwards lets go: growing text moves the end away without any scrolling.
    if (atEnd && !this.opening?.isConnected) this.sticks = true;
    else if (up) this.sticks = false;
    this.newer.hidden ||= this.sticks || !endsBelow(this.list, this.scroller);
    this.grow();
  }

  /** A part that a person opens stays under their eyes: the end may move away. */
  opened({ target }) {
    const row = rowAround(target);
    if (row) this.touched.set(row.shownRow.key, row);
    const pressed = target.closest("a, summary, .show-all, [aria-pressed]");
    if (!pressed || pressed.matches("a")) return;
    this.sticks = false;
    // The inside of a part is made with its `toggle`, which comes some frames later on a busy
    // machine: until then it still ends where it did.
    if (pressed.matches("summary")) this.opening = pressed.parentElement;
  }

  /** Goes to the end and stays there. */
  toEnd() {
    this.sticks = true;
    this.newer.hidden = true;
    if (this.view.toEnd()) this.draw();
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }
}

/** The row that a part stands in. */
const rowAround = (node) => node.closest(".rows > *");

customElements.define("l3-messages", Messages);
