// A tool call as a card: what was asked on one line, how it ended, and everything else inside. The inside is made when the
// card is first opened, so a long conversation costs little.

import { chunks, codeBlock } from "../code.js";
import { h, icon } from "../dom.js";
import { argumentParts, failureLine, resultView, SHOWN_ROWS, summarize } from "../format.js";
import { cutText } from "./cut-text.js";

const STATE_WORDS = { running: "Running", ok: "Done", failed: "Failed" };
const ARROW = "M7.5 5l5 5-5 5";
const LOST = "The turn ended before this call had an outcome.";

/** `<l3-tool>`: `data` is a row of kind `tool`. */
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
    if (this.card.open) this.fill();
    else this.filled = false;
  }

  build() {
    this.className = "row tool";
    this.dataset.testid = "tool-card";
    this.name = h("span", { class: "tool-name" });
    this.said = h("span", { class: "tool-said", dir: "auto" });
    this.state = h("span", { class: "tool-state" });
    this.failure = h("p", { class: "tool-failure", "data-testid": "tool-failure", hidden: true });
    this.body = h("div", { class: "tool-body" });
    const summary = h("summary", {}, icon(ARROW), this.name, this.said, this.state);
    this.card = h("details", {}, summary, this.body);
    this.card.addEventListener("toggle", () => this.card.open && !this.filled && this.fill());
    this.append(this.card, this.failure);
  }

  fill() {
    const { args, outcome } = this.row;
    this.filled = true;
    const parts = argumentParts(args).map(({ label, text, language }) =>
      section(
        label,
        cutText(text, (shown) => codeBlock(shown, language)),
      ),
    );
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

function section(label, nodes, extra = "") {
  return h("section", { class: `tool-part ${extra}` }, h("h3", {}, label), nodes);
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
