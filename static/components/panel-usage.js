// What was used up, in the side panel: by day and by model. A cost that is not known is called so, never guessed.

import { h } from "../dom.js";
import { compactNumber, costText, dayText } from "../format.js";
import { panelSection, problemLine } from "./panel-section.js";

const COLUMNS = ["Requests", "Tokens in", "out", "Cost"];

/** The section: `{ node, show(list) }`. */
export function usageSection() {
  const { line, say } = problemLine();
  const body = h("div", {});
  const node = panelSection("usage", "Usage", body, line);
  let shown;
  const show = ({ entries: report, error } = {}) => {
    say(error);
    if (!report || report === shown) return;
    shown = report;
    body.replaceChildren(...tables(report));
  };
  return { node, show };
}

function tables({ today, days = [], models = [], total, tool_calls: calls }) {
  // A day may come in one row for each model, or in one for all.
  const perDay = days.map((day) => [[dayText(day.day), day.model].filter(Boolean).join(" · "), day]);
  const spans = [today ? ["Today", today] : undefined, total ? ["In all", total] : undefined].filter(Boolean);
  if (perDay.length === 0 && (total?.requests ?? 0) === 0)
    return [h("p", { class: "none" }, "Nothing has been used yet.")];
  const unknown = [...days, ...models].some((each) => each.cost_micros === null || each.cost_micros === undefined);
  return [
    spans.length > 0 ? table("In sum", spans) : "",
    callsLine(total?.tool_calls ?? calls),
    models.length > 0
      ? table(
          "By model, 30 days",
          models.map((model) => [model.model, model]),
        )
      : "",
    perDay.length > 0 ? table("By day (UTC)", perDay) : "",
    unknown ? h("p", { class: "none" }, "A cost is unknown where a model has no rate.") : "",
  ].filter(Boolean);
}

function table(title, rows) {
  const head = h(
    "tr",
    {},
    COLUMNS.map((name) => h("th", { scope: "col" }, name)),
  );
  return h(
    "table",
    { class: "usage" },
    h("caption", {}, title),
    h("thead", {}, head),
    rows.map(([name, used]) =>
      h(
        "tbody",
        {},
        h("tr", { class: "usage-name" }, h("th", { scope: "rowgroup", colspan: COLUMNS.length }, name)),
        h(
          "tr",
          {},
          [used.requests, used.input_tokens, used.output_tokens].map((number) =>
            h("td", { title: String(number ?? 0) }, compactNumber(number ?? 0)),
          ),
          h("td", {}, costText(used.cost_micros)),
        ),
      ),
    ),
  );
}

function callsLine(calls) {
  if (!calls) return "";
  const counts = [
    [calls.done, "done"],
    [calls.failed, "failed or refused"],
    [calls.unknown, "unknown"],
    [calls.open, "without an outcome yet"],
  ].filter(([number], index) => number > 0 || (index === 0 && number !== undefined));
  return h(
    "p",
    { class: "entry-foot" },
    `Tool calls: ${counts.map(([number, word]) => `${number} ${word}`).join(", ")}.`,
  );
}
