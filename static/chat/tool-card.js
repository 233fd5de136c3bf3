// A tool call as a step of its turn: what kind, what came of it in words, how long it took, and
// everything else inside. The inside is made when the step is first opened, so a long conversation
// costs little.

import { h, sameFields } from "../core/dom.js";
import { argumentView, operationLine, resultView } from "../core/format.js";
import { duration } from "../core/times.js";
import { styles } from "../core/styles.js";
import { words } from "../core/words.js";
import { chunks, codeBlock } from "../ui/code.js";
import { exactNodes } from "../ui/exact.js";
import { iconOf } from "../ui/icons.js";
import { saidNodes } from "../ui/said.js";
import { RowsTable } from "../ui/table.js";
import { cutText } from "./cut-text.js";
import { doing, kindWord, saidOf } from "./step-words.js";

await styles(import.meta.url, "steps.css", "tools.css", "approval.css");

const ICONS = { execute_sql: "sql", write_capability: "made", manage_tasks: "tasks", restart: "retry" };
const SQL = "execute_sql";
/** These speak for themselves: the sentence says it. */
const QUIET = new Set(["ok", "said"]);

/** `<l3-tool>`: `data` is a row of kind `tool`, with `came` as `turns.js` has it. */
export class ToolCard extends HTMLElement {
  set data(row) {
    if (!this.card) this.build(row);
    this.row = row;
    const came = row.came ?? row.state;
    this.dataset.tool = row.name;
    this.dataset.state = row.state;
    this.dataset.came = came;
    this.name.textContent = kindWord(row);
    this.said.replaceChildren(...saidNodes(saidOf({ ...row, came })));
    this.asked.textContent = doing(row);
    this.took.textContent = duration(row.outcome?.ms);
    this.state.textContent = QUIET.has(came) ? "" : words.steps.came[came];
    // The inside is made anew only if it is another: a person may sort a table of it, or have the
    // focus there.
    if (sameFields(this.inside, insideOf(row))) return;
    this.filled = false;
    if (this.card.open) this.fill();
  }

  build(row) {
    this.className = "step";
    this.dataset.testid = "tool-card";
    this.setAttribute("role", "listitem");
    this.name = h("span", { class: "tool-name" });
    this.said = h("span", { class: "step-said", dir: "auto" });
    this.asked = h("span", { class: "tool-said", dir: "auto" });
    this.took = h("span", { class: "step-took" });
    this.state = h("span", { class: "tool-state" });
    this.body = h("div", { class: "tool-body" });
    const line = h("span", { class: "step-line" }, this.name, " ", this.said, " ", this.state);
    const text = h("span", { class: "step-text" }, line, this.asked);
    const summary = h("summary", {}, h("span", { class: "step-mark" }, iconOf(ICONS[row.name] ?? "call")), text, this.took);
    this.card = h("details", {}, summary, this.body);
    this.card.addEventListener("toggle", () => this.card.open && !this.filled && this.fill());
    this.append(this.card);
  }

  fill() {
    const { args, outcome, operations, classified, name } = this.row;
    this.filled = true;
    this.inside = insideOf(this.row);
    const parts = [...argumentNodes(args)];
    if (classified) parts.push(classifiedLine(classified));
    if (operations) parts.push(section(words.steps.operations, operationList(operations)));
    if (outcome?.fault) parts.push(section(words.steps.fault(outcome.fault.line), cutText(outcome.fault.message, plainBlock)));
    const given = outcome?.ok ? resultNodes(outcome, name) : [];
    if (given.length > 0) parts.push(section(words.steps.result, given));
    // The line says what went wrong; the words for the model are for those who want to know.
    else if (outcome && !outcome.ok) parts.push(folded(words.steps.technical, () => cutText(outcome.result, plainBlock)));
    if (outcome?.logs?.length > 0) parts.push(section(words.steps.log, cutText(outcome.logs.join("\n"), (shown) => codeBlock(shown, ""))));
    this.body.replaceChildren(...parts);
  }
}

/** All that the inside of a card shows. */
const insideOf = ({ name, args, outcome, operations, classified }) => ({ name, args, outcome, operations, classified });

function section(label, nodes) {
  return h("section", { class: "tool-part" }, h("h2", {}, label), nodes);
}

/** Something that is made when it is opened. */
function folded(label, make) {
  const node = h("details", { class: "tool-more" }, h("summary", {}, label));
  node.addEventListener("toggle", () => node.childElementCount === 1 && node.append(...[make()].flat()), { once: true });
  return node;
}

function argumentNodes(args) {
  const { parts, fields } = argumentView(args);
  const nodes = [];
  if (fields.length > 0) nodes.push(section(words.steps.arguments, [fieldTable(fields), folded(words.steps.json, () => codeBlock(JSON.stringify(args, null, 2), "json"))]));
  for (const { label, text, language } of parts)
    nodes.push(section(label, cutText(text, (shown) => (language ? codeBlock(shown, language) : plainBlock(shown)))));
  return nodes;
}

function fieldTable(fields) {
  const row = ([name, value]) => h("tr", {}, h("th", { scope: "row", dir: "auto" }, name), h("td", { dir: "auto" }, cutText(value, (shown) => h("span", {}, shown), 400)));
  return h("table", { class: "fields" }, h("tbody", {}, fields.map(row)));
}

const plainBlock = (text) => h("pre", { class: "plain", tabindex: "0", dir: "auto" }, chunks(text));

function resultNodes({ result, columns, total }, name) {
  if (result.trim() === "") return [h("p", { class: "status" }, words.rows.none)];
  const view = resultView(result, { columns, total });
  if (view.kind === "several") return view.views.flatMap((each) => (name === SQL && statementNodes(each)) || viewNodes(each, name));
  // The line of the step says it.
  return name === SQL && statementNodes(view) ? [] : viewNodes(view, name);
}

/** The outcome of a statement that gives no rows, which the server tells in a field of the model; nothing of another. */
function statementNodes({ kind, fields }) {
  const [[name, value], ...others] = kind === "fields" ? fields : [[]];
  const text = name === "done" ? value : name === "row_count" ? words.rows.all(Number(value)) : "";
  return text && others.length === 0 ? [h("p", { class: "status" }, text)] : undefined;
}

function viewNodes(view, name) {
  if (view.kind === "table") {
    const table = new RowsTable();
    table.name = name === SQL ? "rows" : name;
    table.rows = view;
    return [table];
  }
  if (view.kind === "fields") return [fieldTable(view.fields)];
  return cutText(view.text, (text) => (view.kind === "json" ? codeBlock(text, "json") : plainBlock(text)));
}

function classifiedLine({ complexity, risk, impact, confirm }) {
  return h("p", { class: "classified", "data-testid": "classified" }, words.steps.classified(complexity, risk, impact, confirm));
}

function operationList(operations) {
  const line = (operation) =>
    h(
      "li",
      { "data-state": operation.state, title: JSON.stringify(operation.request) },
      h("span", { class: "operation-power" }, operation.power),
      h("code", { dir: "ltr" }, exactNodes(operationLine(operation))),
      h("span", { class: "operation-state" }, words.steps.state[operation.state] ?? String(operation.state)),
    );
  return h("ol", { class: "operations", "data-testid": "operations" }, operations.map(line));
}

customElements.define("l3-tool", ToolCard);
