// The quiet line under a turn that is over: when, how long, what it took, and what can be done with
// it.

import { h, keyed } from "../core/dom.js";
import { compactNumber, costText } from "../core/numbers.js";
import { clockTime, duration, localTime } from "../core/times.js";
import { locale, words } from "../core/words.js";
import { iconButton } from "../ui/button.js";

/**
 * `<l3-foot>`: `data` is a row of kind `foot` (`turns.js`). Sends `retry-turn` and `branch-turn`, with the row as detail. A row that changes (its
 * turn was cut, and its beginning came in above; it was tried again) keeps the buttons that it had, and so the focus.
 */
export class TurnFoot extends HTMLElement {
  set data(row) {
    this.row = row;
    if (!this.facts) this.build();
    this.facts.replaceChildren(...factsOf(row));
    keyed(this.actions, actionsOf(row), ({ key }) => this.button(key));
  }

  build() {
    this.className = "row foot";
    this.dataset.testid = "turn-foot";
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", words.chat.foot);
    this.facts = h("p", { class: "foot-facts" });
    this.actions = h("span", { class: "foot-buttons" });
    this.append(this.facts, this.actions);
  }

  button(name) {
    const say = () => this.dispatchEvent(new CustomEvent(`${name}-turn`, { bubbles: true, detail: this.row }));
    const action = name === "copy" ? () => copy(this.actions, this.row.answer) : say;
    const node = iconButton(name, words.chat[name], action, { "data-testid": `turn-${name}` });
    const help = words.chat[`${name}Help`];
    if (help) node.title = `${node.title}. ${help}`;
    return node;
  }
}

/** The actions on the turn, as rows for `keyed`. The clipboard exists only in secure contexts; localhost is one. */
function actionsOf({ answer, retryAt, branchAt }) {
  const all = { copy: answer && navigator.clipboard, retry: retryAt !== undefined, branch: branchAt !== undefined };
  return Object.keys(all).filter((key) => all[key]).map((key) => ({ key }));
}

/** The facts that are known, each apart; a cost only if the prices are known. */
function factsOf({ at, ms, requests, input, output, cost }) {
  const facts = [];
  if (at) facts.push(h("time", { datetime: at, title: localTime(at) }, clockTime(at, Date.now())));
  if (ms !== undefined) facts.push(h("span", {}, duration(ms)));
  const tokens = (input ?? 0) + (output ?? 0);
  if (tokens > 0) {
    const whole = `${words.chat.tokens(input.toLocaleString(locale), output.toLocaleString(locale))}, ${words.chat.requests(requests)}`;
    facts.push(h("span", { title: whole }, words.chat.tokensShort(compactNumber(tokens))));
  }
  if (cost !== null && cost !== undefined && tokens > 0) facts.push(h("span", {}, costText(cost)));
  return facts;
}

async function copy(beside, text) {
  let said = words.chat.copied;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    said = words.chat.notCopied;
  }
  const told = h("span", { class: "foot-told", role: "status" }, said);
  beside.after(told);
  setTimeout(() => told.remove(), 1500);
}

customElements.define("l3-foot", TurnFoot);
