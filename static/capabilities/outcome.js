// The outcome of a call or an order: in words, and the result as rows, as names with values, or as
// text.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { codeBlock } from "../ui/code.js";
import { exactNodes } from "../ui/exact.js";
import { saidNodes } from "../ui/said.js";
import { shapeOf, tookText } from "./figures.js";
import { capabilities as said } from "./words.js";

/** One line on an outcome as `settled` gives it. An approval that waits has a way to it. */
export function outcomeLine({ state, said: sentence, conversation, result }) {
  const text = state === "waits" ? said.waits : state === "unknown" ? (sentence ?? said.unknown) : (sentence ?? said[state]);
  const foot = [tookText(result?.ms), result?.version ? `v${result.version}` : ""].filter(Boolean).join(" · ");
  const way = state === "waits" ? h("a", { href: addressOf("chat", String(conversation)) }, said.decide) : "";
  return h("p", { class: "order-line", "data-state": state, "data-testid": "outcome" }, h("strong", {}, said.states[state]), " ", h("span", { dir: "auto" }, saidNodes(text)), " ", way, foot ? h("span", { class: "order-foot" }, foot) : "");
}

/** The whole outcome of a call: the line, the result or the fault, and the log. */
export function outcomeView(outcome) {
  const { state, result } = outcome;
  const parts = [outcomeLine(outcome)];
  if (result && state === "done") parts.push(resultNode(result));
  else if (result?.fault) parts.push(faultNode(result.fault));
  if (result?.logs?.length > 0) {
    const log = h("pre", { class: "plain", tabindex: "0", dir: "ltr" }, exactNodes(result.logs.join("\n")));
    parts.push(h("details", { class: "call-log", open: state !== "done" }, h("summary", {}, said.log(result.logs.length)), log));
  }
  return h("div", { class: "outcome" }, parts);
}

function resultNode(frame) {
  const shape = shapeOf(frame);
  switch (shape.kind) {
    case "rows":
      return rowsNode(shape.table);
    case "facts":
      return h("dl", { class: "facts" }, shape.entries.map(([name, value]) => [h("dt", { dir: "auto" }, exactNodes(name)), h("dd", { dir: "auto" }, value === null ? "–" : exactNodes(String(value)))]).flat());
    case "json":
      return codeBlock(shape.text, "json");
    default:
      return h("pre", { class: "plain", tabindex: "0", dir: "auto", "data-testid": "result" }, exactNodes(shape.text));
  }
}

/** The table is loaded by the first result that has rows. */
function rowsNode(table) {
  const host = h("div", { "data-testid": "result" });
  import("../ui/table.js").then(
    () => {
      const node = document.createElement("rows-table");
      host.append(node);
      node.rows = table;
    },
    () => host.append(codeBlock(JSON.stringify(table.rows, null, 2), "json")),
  );
  return host;
}

function faultNode({ message, line }) {
  const text = line === undefined ? message : `${message} ${said.line(line)}`;
  return h("div", { class: "fault" }, text ? h("p", { dir: "auto" }, exactNodes(text)) : "");
}
