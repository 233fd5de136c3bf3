// The quiet line under a turn that is over: when, how long, what it took, and what can be done with it.

import { h } from "../core/dom.js";
import { compactNumber, costText } from "../core/text.js";
import { clockTime, duration, localTime } from "../core/times.js";
import { words } from "../core/words.js";
import { iconButton } from "../ui/button.js";

/** `<l3-foot>`: `data` is a row of kind `foot` (`turns.js`). Sends `retry-turn` and `branch-turn`, with the row as detail. */
export class TurnFoot extends HTMLElement {
  set data(row) {
    this.className = "row foot";
    this.dataset.testid = "turn-foot";
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", words.chat.foot);
    this.replaceChildren(h("p", { class: "foot-facts" }, factsOf(row)), h("span", { class: "foot-buttons" }, this.buttons(row)));
  }

  buttons(row) {
    const say = (type) => () => this.dispatchEvent(new CustomEvent(type, { bubbles: true, detail: row }));
    const named = (name) => ({ "data-testid": `turn-${name}` });
    const all = [];
    // The clipboard exists only in secure contexts; localhost is one.
    if (row.answer && navigator.clipboard) all.push(iconButton("copy", words.chat.copy, (node) => copy(node, row.answer), named("copy")));
    if (row.retryAt !== undefined) all.push(titled(iconButton("retry", words.chat.retry, say("retry-turn"), named("retry")), words.chat.retryHelp));
    if (row.branchAt !== undefined) all.push(titled(iconButton("branch", words.chat.branch, say("branch-turn"), named("branch")), words.chat.branchHelp));
    return all;
  }
}

function titled(button, help) {
  button.title = `${button.title}. ${help}`;
  return button;
}

/** The facts that are known, each apart; a cost only if the prices are known. */
function factsOf({ at, ms, requests, input, output, cost }) {
  const facts = [];
  if (at) facts.push(h("time", { datetime: at, title: localTime(at) }, clockTime(at, Date.now())));
  if (ms !== undefined) facts.push(h("span", {}, duration(ms)));
  const tokens = (input ?? 0) + (output ?? 0);
  if (tokens > 0) {
    const whole = `${words.chat.tokens(input.toLocaleString(), output.toLocaleString())}, ${words.chat.requests(requests)}`;
    facts.push(h("span", { title: whole }, words.chat.tokensShort(compactNumber(tokens))));
  }
  if (cost !== null && cost !== undefined && tokens > 0) facts.push(h("span", {}, costText(cost)));
  return facts;
}

async function copy(node, text) {
  let said = words.chat.copied;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    said = words.chat.notCopied;
  }
  const told = h("span", { class: "foot-told", role: "status" }, said);
  node.after(told);
  setTimeout(() => told.remove(), 1500);
}

customElements.define("l3-foot", TurnFoot);
