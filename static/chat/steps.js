// The steps of a turn as one quiet line; open, a timeline. The things that a person has to know
// stand below the line, open or not: outcomes that nobody knows, and rows that can be put back.

import { h, keyed } from "../core/dom.js";
import { operationLine } from "../core/format.js";
import { words } from "../core/words.js";
import { button } from "../ui/button.js";
import { exactNodes } from "../ui/exact.js";
import { iconOf } from "../ui/icons.js";
import { saidNodes } from "../ui/said.js";
import { actionButton, problemLine } from "../ui/section.js";
import { doing, kindWord, saidOf, stepsLine } from "./step-words.js";
import "./answer.js";
import "./tool-card.js";

/** More dots say no more. */
const MOST_DOTS = 60;
/** More offers to undo than this are folded. */
const SHOWN_UNDOS = 3;

/** `<l3-steps>`: `data` is a row of kind `steps` (`turns.js`). Sends `undo-call` (detail: `{ call, resolve, reject }`) and `write-this`. */
export class Steps extends HTMLElement {
  set data({ steps, live }) {
    if (!this.card) this.build();
    this.dataset.live = String(live);
    this.dataset.count = String(steps.length);
    const newest = steps.at(-1);
    this.line.textContent = live ? `${kindWord(newest)} · ${doing(newest)}` : stepsLine(steps);
    this.count.textContent = live ? words.steps.count(steps.length) : "";
    this.dots.replaceChildren(...steps.slice(-MOST_DOTS).map(({ came }) => h("i", { "data-came": came })));
    keyed(this.list, steps, (step) => document.createElement(step.kind === "assistant" ? "l3-assistant" : "l3-tool"));
    keyed(this.alerts, alertRows(steps), (row) => new ALERTS[row.kind]());
    this.alerts.hidden = this.alerts.childElementCount === 0;
  }

  build() {
    this.className = "row steps";
    this.dataset.testid = "steps";
    this.line = h("span", { class: "steps-line", dir: "auto" });
    this.count = h("span", { class: "steps-count" });
    this.dots = h("span", { class: "steps-dots", "aria-hidden": "true" });
    this.list = h("div", { class: "steps-list", role: "list" });
    this.alerts = h("div", { class: "steps-alerts", hidden: true });
    const summary = h("summary", {}, iconOf("next"), h("span", { class: "steps-text" }, this.line, this.count, this.dots));
    this.card = h("details", {}, summary, this.list);
    this.append(this.card, this.alerts);
  }
}

/** The rows below the line: flat, for `keyed`. */
function alertRows(steps) {
  const unknown = steps.filter(({ came }) => came === "unknown");
  const undos = steps.filter(({ kept, undone }) => kept > 0 || undone !== undefined);
  return [
    ...unknown.map(({ key, name, operations, outcome }) => ({ key: `unknown:${key}`, kind: "unknown", name, operations, said: saidOf({ came: "unknown", outcome }) })),
    ...undos.slice(0, SHOWN_UNDOS).map(undoRow),
    ...(undos.length > SHOWN_UNDOS ? [{ key: "undos", kind: "undos", undos: undos.slice(SHOWN_UNDOS).map(undoRow) }] : []),
  ];
}

const undoRow = ({ call, kept, undone }) => ({ key: `undo:${call}`, kind: "undo", call, kept, undone });

/** An outcome that nobody knows: what was asked, and what to do. */
class Unknown extends HTMLElement {
  set data({ name, operations = [], said }) {
    const open = operations.filter(({ state }) => state === "unknown");
    const asked = open.map((operation) => h("li", {}, h("code", { dir: "ltr" }, exactNodes(operationLine(operation)))));
    const write = () => this.dispatchEvent(new CustomEvent("write-this", { bubbles: true, detail: words.steps.unknownSay(name) }));
    this.className = "unknown";
    this.dataset.testid = "tool-unknown";
    this.setAttribute("role", "note");
    this.replaceChildren(
      h("p", { class: "unknown-title" }, iconOf("warning"), words.steps.unknownTitle),
      ...(asked.length > 0 ? [h("p", {}, saidNodes(words.steps.unknownWhat(name))), h("ul", {}, asked)] : [h("p", { dir: "auto" }, `${kindWord({ name })}: `, saidNodes(said))]),
      h("p", {}, words.steps.unknownDo, " ", button(words.steps.unknownAsk, write, { kind: "quiet" })),
    );
  }
}

/** Rows that were deleted or overwritten can be put back, or were. */
class Undo extends HTMLElement {
  set data({ call, kept, undone }) {
    this.className = "tool-undo";
    this.dataset.testid = "tool-undo";
    if (undone !== undefined) {
      const had = this.contains(document.activeElement);
      const told = h("p", { tabindex: "-1" }, words.steps.undone(words.steps.rows(undone)));
      this.replaceChildren(told);
      // The button goes; a person who pressed it by key goes on from here.
      if (had) told.focus({ preventScroll: true });
      return;
    }
    const { line, say } = problemLine();
    const ask = () => new Promise((resolve, reject) => this.dispatchEvent(new CustomEvent("undo-call", { bubbles: true, detail: { call, resolve, reject } })));
    const button = actionButton(words.steps.undo, "quiet", say, ask);
    button.dataset.testid = "tool-undo-button";
    button.title = words.steps.undoHelp;
    this.replaceChildren(h("p", {}, words.steps.kept(words.steps.rows(kept)), " ", button), line);
  }
}

/** Further ones, folded. */
class Undos extends HTMLElement {
  set data({ undos }) {
    if (!this.card) {
      this.summary = h("summary", {});
      this.list = h("div", {});
      this.card = h("details", { class: "tool-more" }, this.summary, this.list);
      this.append(this.card);
    }
    this.summary.textContent = words.steps.moreUndo(undos.length);
    keyed(this.list, undos, () => new Undo());
  }
}

customElements.define("l3-unknown", Unknown);
customElements.define("l3-undo", Undo);
customElements.define("l3-undos", Undos);
const ALERTS = { unknown: Unknown, undo: Undo, undos: Undos };
customElements.define("l3-steps", Steps);
