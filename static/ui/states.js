// Stand-ins for content: nothing yet, not yet, not at all. And the small number beside a name.

import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { button } from "./button.js";

/** Nothing is there, and a sentence says how something comes. */
export function emptyState(title, text, ...actions) {
  return h("div", { class: "empty-state", "data-testid": "empty" }, h("h2", {}, title), text ? h("p", {}, text) : "", actions);
}

/** Something went wrong; names stand between backticks, and `again` tries it once more. */
export function errorState(text, again) {
  return h("div", { class: "error-state", role: "alert" }, h("p", {}, text.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part))), again ? button(words.say.again, again) : "");
}

/** When what is on its way is shown as lines (in `ui.css`), when it is said in words, and when a person may call it off. */
const WORDS_MS = 2000;
const CANCEL_MS = 10_000;

/** `<l3-waiting>`: content is on its way. It says more the longer that takes; `cancel` calls it off. */
class Waiting extends HTMLElement {
  connectedCallback() {
    const say = (text, ...more) => this.said.replaceChildren(h("span", {}, text), ...more);
    const cancel = () => this.cancel && button(words.say.cancel, () => this.cancel());
    const late = () => say(words.failed.slow, cancel() ?? "");
    this.timers = [setTimeout(() => say(words.say.loading), WORDS_MS), setTimeout(late, CANCEL_MS)];
  }

  disconnectedCallback() {
    for (const timer of this.timers) clearTimeout(timer);
  }
}
customElements.define("l3-waiting", Waiting);

/** Lines in the place of content that is on its way. They are seen only if it takes longer than a moment; `late` ones take no room before. */
export function skeleton(lines = 4, cancel, late) {
  const said = h("p", { role: "status" });
  const rows = Array.from({ length: lines }, () => h("i", { "aria-hidden": "true" }));
  return Object.assign(h("l3-waiting", { class: late ? "skeleton late" : "skeleton" }, said, rows), { said, cancel });
}

/** The same for what `again()` asks for: if a person calls it off, `left()` hears of it, and the way to try it once more has the focus. */
export function waitingFor(again, lines, left) {
  const node = skeleton(lines, () => {
    const told = errorState(words.failed.cancelled, again);
    left?.();
    node.replaceWith(told);
    told.querySelector("button").focus({ preventScroll: true });
  });
  return node;
}

/** A small number; nothing at all for 0. `label` says what it counts. */
export function badge(count, label) {
  if (!count) return undefined;
  return h("span", { class: "badge" }, h("span", { "aria-hidden": "true" }, count > 99 ? "99+" : String(count)), h("span", { class: "visually-hidden" }, label ?? ""));
}
