// A question of Lea or Law before something is made or deleted: a bubble with Yes and No, and after
// the decision the same with the answer. As with any approval, Yes works only once the question has
// been in sight for a moment, and nothing moves the focus to it.

import { h } from "../core/dom.js";
import { serverNow } from "../core/server-clock.js";
import { styles } from "../core/styles.js";
import { expiryLine } from "../core/times.js";
import { words, wordsOf } from "../core/words.js";
import { Arming, told } from "./arming.js";
import { exactNodes } from "./exact.js";

await styles(import.meta.url, "question.css");

const { question: said } = await wordsOf("todo");
let count = 0;

/** `<l3-question>`: `data` is a row as `core/approvals.js` makes it, with `targets`, a line for each thing that Yes is about. Sends `decide`. */
export class Question extends HTMLElement {
  set data(row) {
    const before = told(this, row, "question");
    if (!row.shown) return;
    const isNew = before?.state !== row.state || before?.targets !== row.targets;
    if (isNew) this.build();
    if (row.state === "pending") this.refresh();
  }

  connectedCallback() {
    // A question that was taken out and put in again has to be looked at anew.
    if (this.row?.state === "pending" && this.row.shown && !this.arming) this.watch();
  }

  disconnectedCallback() {
    this.stopWatching();
  }

  build() {
    const { shown, state } = this.row;
    const hadFocus = this.contains(document.activeElement);
    this.stopWatching();
    const id = `question-${(count += 1)}`;
    this.heading = h("p", { class: "question-text", id, tabindex: "-1", dir: "auto" }, exactNodes(shown.question));
    const answer = state === "pending" ? this.buttons() : [h("p", { class: "question-answer" }, this.answer())];
    this.replaceChildren(h("section", { class: "question-card", role: "group", "aria-labelledby": id }, this.heading, this.targets(), ...answer));
    if (state === "pending") this.watch();
    if (hadFocus) this.heading.focus({ preventScroll: true });
  }

  /** The things that Yes is about, if there is more than the question says. */
  targets() {
    const lines = this.row.targets?.split("\n") ?? [];
    return lines.length > 0 ? h("ul", { class: "question-targets" }, lines.map((line) => h("li", { dir: "auto" }, exactNodes(line)))) : "";
  }

  buttons() {
    const decide = (decision) => () => this.decide(decision);
    this.notYet = h("span", { id: `${this.heading.id}-about` });
    this.expiry = h("time", { datetime: this.row.expiresAt });
    this.yes = h("button", { type: "button", class: "button primary", "data-testid": "question-yes", "aria-describedby": this.notYet.id, onclick: decide("approve") }, said.yes);
    this.no = h("button", { type: "button", class: "button", "data-testid": "question-no", onclick: decide("deny") }, said.no);
    // A key that is held down since before the focus came here was meant for something else.
    this.yes.addEventListener("keydown", (event) => event.repeat && event.preventDefault());
    return [h("div", { class: "question-buttons" }, this.yes, this.no), h("p", { class: "question-foot" }, this.notYet, this.expiry)];
  }

  /** The answer that was given, in a word. */
  answer() {
    const { state, channel } = this.row;
    if (channel === "instead") return said.instead;
    return said.answers[state] ?? words.law.other(state);
  }

  decide(decision) {
    const { id, sending, connected } = this.row;
    if (sending || !connected) return;
    if (decision === "approve" && !this.arming?.armed) return;
    this.dispatchEvent(new CustomEvent("decide", { bubbles: true, detail: { approval: id, decision } }));
  }

  watch() {
    this.stopWatching();
    const arming = new Arming(() => this.refresh());
    this.arming = arming;
    this.watcher = new IntersectionObserver(
      (entries) => {
        for (const { target, intersectionRatio } of entries) {
          const seen = intersectionRatio > 0.95;
          if (target === this.yes) arming.buttonSeen(seen);
          else if (seen) arming.partSeen("beginning");
        }
      },
      { threshold: [0, 0.96, 1] },
    );
    for (const target of [this.heading, this.yes]) this.watcher.observe(target);
    arming.pageSeen(!document.hidden);
    this.listeners = new AbortController();
    const { signal } = this.listeners;
    document.addEventListener("visibilitychange", () => arming.pageSeen(!document.hidden), { signal });
    addEventListener("focus", () => arming.startOver(), { signal });
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
    const { state, sending, connected } = this.row;
    if (state !== "pending" || !this.yes) return;
    const open = !sending && connected;
    able(this.yes, open && this.arming?.armed === true);
    able(this.no, open);
    const text = sending ? said.sending : connected ? said.byWord : said.offline;
    if (this.notYet.textContent !== text) this.notYet.textContent = text;
    this.refreshTime();
  }

  refreshTime() {
    const text = this.row.expiresAt ? expiryLine(this.row.expiresAt, serverNow()) : "";
    if (this.expiry.textContent !== text) this.expiry.textContent = text;
  }
}

/** Not `disabled`: a button that does not work yet is found with Tab, and one that was pressed keeps the focus. */
function able(button, is) {
  if (is) button.removeAttribute("aria-disabled");
  else button.setAttribute("aria-disabled", "true");
}

customElements.define("l3-question", Question);
