// A tool call as a card: what was asked on one line, how it ended, and everything else inside. The inside is made when the
// card is first opened, so a long conversation costs little.

import { chunks, codeBlock } from "../code.js";
import { h, icon } from "../dom.js";
import { exactNodes } from "../exact.js";
import { argumentParts, failureLine, operationLine, resultView, SHOWN_ROWS, summarize } from "../format.js";
import { cutText } from "./cut-text.js";
import { actionButton, problemLine } from "./panel-section.js";

const STATE_WORDS = { running: "Running", waiting: "Waits for you", ok: "Done", failed: "Failed" };
const ARROW = "M7.5 5l5 5-5 5";
const OPERATION_WORDS = {
  intended: "about to happen",
  done: "done",
  failed: "failed",
  unknown: "unknown: may or may not have happened",
};
const LOST = "The turn ended before this call had an outcome.";

/** `<l3-tool>`: `data` is a row of kind `tool`. Sends `undo-call` (detail: `{ call, resolve, reject }`). */
export class ToolCard extends HTMLElement {
  set data(row) {
    if (!this.card) this.build();
    this.row = row;
    this.dataset.tool = row.name;
    this.dataset.state = row.state;
    this.name.textContent = row.name;
    this.said.textContent = row.called ? summarize(row.name, row.args) : "called earlier than what is shown";
    this.state.textContent = STATE_WORDS[row.state];
    this.failure.hidden = row.state !== "failed";
    this.failure.textContent = row.state !== "failed" ? "" : row.lost ? LOST : failureLine(row.outcome.result);
    const unknown = row.operations?.filter((operation) => operation.state === "unknown").length ?? 0;
    this.unknown.hidden = unknown === 0;
    this.unknown.textContent =
      unknown === 1
        ? "One thing this call asked for may or may not have happened. It is not repeated by itself."
        : `${unknown} things this call asked for may or may not have happened. They are not repeated by themselves.`;
    this.showUndo();
    if (this.card.open) this.fill();
    else this.filled = false;
  }

  /** What was deleted or overwritten can be put back, or was. */
  showUndo() {
    const { call, kept, undone } = this.row;
    const shown = undone !== undefined ? `undone ${undone}` : kept > 0 ? `kept ${kept}` : "";
    if (this.undo.dataset.shown === shown) return;
    this.undo.dataset.shown = shown;
    this.undo.hidden = shown === "";
    if (undone !== undefined) {
      this.undo.replaceChildren(h("p", {}, `Undone: ${rowsOf(undone)} put back.`));
    } else if (kept > 0) {
      const { line, say } = problemLine();
      const button = actionButton("Undo", "quiet", say, () => this.askToUndo(call));
      button.dataset.testid = "tool-undo-button";
      button.title = "Puts them back as they were, if nothing has changed them since.";
      const said = `It deleted or overwrote ${rowsOf(kept)}, kept for 30 days.`;
      this.undo.replaceChildren(h("p", {}, said, " ", button), line);
    }
  }

  askToUndo(call) {
    return new Promise((resolve, reject) => {
      this.dispatchEvent(new CustomEvent("undo-call", { bubbles: true, detail: { call, resolve, reject } }));
    });
  }

  build() {
    this.className = "row tool";
    this.dataset.testid = "tool-card";
    this.name = h("span", { class: "tool-name" });
    this.said = h("span", { class: "tool-said", dir: "auto" });
    this.state = h("span", { class: "tool-state" });
    this.failure = h("p", { class: "tool-failure", "data-testid": "tool-failure", hidden: true });
    this.unknown = h("p", { class: "tool-unknown", "data-testid": "tool-unknown", hidden: true });
    this.undo = h("div", { class: "tool-undo", "data-testid": "tool-undo", hidden: true });
    this.body = h("div", { class: "tool-body" });
    const summary = h("summary", {}, icon(ARROW), this.name, this.said, this.state);
    this.card = h("details", {}, summary, this.body);
    this.card.addEventListener("toggle", () => this.card.open && !this.filled && this.fill());
    this.append(this.card, this.failure, this.unknown, this.undo);
  }

  fill() {
    const { args, outcome, operations, classified } = this.row;
    this.filled = true;
    const parts = argumentParts(args).map(({ label, text, language }) =>
      section(
        label,
        cutText(text, (shown) => codeBlock(shown, language)),
      ),
    );
    if (classified) parts.push(classifiedLine(classified));
    if (operations) parts.push(section("what it did outside its sandbox", operationList(operations)));
    if (outcome) {
      parts.push(section(outcome.ok ? "result" : "error", resultNodes(outcome.result), outcome.ok ? "" : "failed"));
      if (outcome.logs.length > 0)
        parts.push(
          section(
            "log",
            cutText(outcome.logs.join("\n"), (shown) => codeBlock(shown, "")),
          ),
        );
    }
    this.body.replaceChildren(...parts);
  }
}

function rowsOf(count) {
  return count === 1 ? "1 row" : `${count} rows`;
}

function section(label, nodes, extra = "") {
  return h("section", { class: `tool-part ${extra}` }, h("h3", {}, label), nodes);
}

function classifiedLine({ complexity, risk, impact, confirm }) {
  const asked = confirm ? "; a person should see it first" : "";
  return h(
    "p",
    { class: "classified", "data-testid": "classified" },
    `A second model called it: complexity ${complexity}, risk ${risk}, impact ${impact}${asked}.`,
  );
}

function operationList(operations) {
  return h(
    "ol",
    { class: "operations", "data-testid": "operations" },
    operations.map((operation) =>
      h(
        "li",
        { "data-state": operation.state, title: JSON.stringify(operation.request) },
        h("span", { class: "operation-power" }, operation.power),
        h("code", { dir: "ltr" }, exactNodes(operationLine(operation))),
        h("span", { class: "operation-state" }, OPERATION_WORDS[operation.state] ?? String(operation.state)),
      ),
    ),
  );
}

function resultNodes(result) {
  if (result.trim() === "") return [h("p", { class: "status" }, "(empty)")];
  const view = resultView(result);
  if (view.kind === "table") {
    const rest = view.rest ? [codeBlock(JSON.stringify(view.rest, null, 2), "json")] : [];
    return [tableNode(view), ...rest];
  }
  return cutText(view.text, (text) =>
    view.kind === "json"
      ? codeBlock(text, "json")
      : h("pre", { class: "plain", tabindex: "0", dir: "auto" }, chunks(text)),
  );
}

function tableNode({ columns, rows }) {
  const body = h("tbody", {}, rows.slice(0, SHOWN_ROWS).map(rowNode));
  const head = h(
    "thead",
    {},
    h(
      "tr",
      {},
      columns.map(({ name, numbers }) => h("th", { scope: "col", class: numbers ? "numbers" : undefined }, name)),
    ),
  );
  const box = h("div", { class: "table-scroll", tabindex: "0" }, h("table", {}, head, body));
  if (rows.length <= SHOWN_ROWS) return box;
  const button = h("button", { type: "button", class: "quiet show-all" }, `Show all ${rows.length} rows`);
  button.addEventListener("click", () => {
    body.append(...rows.slice(SHOWN_ROWS).map(rowNode));
    button.remove();
  });
  return h("div", {}, box, button);
}

function rowNode(cells) {
  return h(
    "tr",
    {},
    cells.map(({ text, kind }) =>
      h(
        "td",
        { class: `cell-${kind}`, dir: "auto" },
        cutText(text, (shown) => h("span", {}, shown), 400),
      ),
    ),
  );
}

customElements.define("l3-tool", ToolCard);
