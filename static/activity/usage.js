// The amounts used up: against the limits of the day, day by day, and model by model. A cost that
// is not known is called so, never guessed.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { dayText } from "../core/format.js";
import { compactNumber, costText, decimal } from "../core/numbers.js";
import { mainState } from "../core/workspace.js";
import { bar, budgetBar } from "../ui/bars.js";
import { segmented } from "../ui/forms.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";
import { said } from "./words.js";

const MEASURES = {
  tokens: ({ input_tokens: input, output_tokens: output }) => input + output,
  money: ({ cost_micros: cost }) => cost ?? 0,
  calls: ({ tool_calls: calls }) => (calls?.done ?? 0) + (calls?.failed ?? 0) + (calls?.open ?? 0),
};

/** How much of each limit of the day is used up: `{ limit, used, of }`; `used` is null if nobody knows it. Pure. */
export function dayLimits(budget, today) {
  const calls = (today.tool_calls?.done ?? 0) + (today.tool_calls?.failed ?? 0);
  const used = { steps: today.requests, input_tokens: today.input_tokens, output_tokens: today.output_tokens, money_micros: today.cost_micros, tool_calls: calls };
  return Object.entries(used).flatMap(([limit, amount]) => {
    const of = budget?.[limit];
    return of === null || of === undefined ? [] : [{ limit, used: amount ?? null, of }];
  });
}

/** The view; kept fresh until the signal `gone`. */
export function usageView({ session, gone }) {
  const budgets = h("div", {}, waitingFor(loadLimits, 2));
  const body = h("div", { class: "usage-body" }, waitingFor(() => session.lists.load("usage")));
  let policies;
  let shown;
  let measure = "tokens";
  const list = () => mainState(session.store.getState()).lists.usage ?? {};

  function told() {
    const { entries: report, error } = list();
    if (error && !report) body.replaceChildren(errorState(error, () => session.lists.load("usage")));
    if (!report || report === shown) return;
    shown = report;
    body.replaceChildren(...reportNodes(report, measure, (value) => (measure = value)));
    showLimits();
  }

  function showLimits() {
    if (policies && shown) budgets.replaceChildren(...policies.flatMap((policy) => limitNodes(policy, shown.today, policies.length > 1)));
  }

  async function loadLimits() {
    const { hello } = mainState(session.store.getState());
    const profiles = Object.keys(hello?.conversations ?? { builder: 0 });
    try {
      const all = await Promise.all(profiles.map((profile) => session.api.policy(profile)));
      if (gone.aborted) return;
      policies = all;
      showLimits();
    } catch (error) {
      if (!gone.aborted) budgets.replaceChildren(errorState(error.message, loadLimits));
    }
  }

  session.look("usage", () => !gone.aborted);
  session.store.subscribe(told, gone);
  session.lists.load("usage");
  loadLimits();
  told();
  return h("div", { "data-testid": "usage" }, h("section", {}, h("h2", {}, said.budgets), budgets), body);
}

function limitNodes({ profile, budgets }, today, named) {
  const limits = dayLimits(budgets.day, today);
  const link = (limit) => addressOf("settings", "budgets", `day.${limit}`, profile);
  const bars = limits.map(({ limit, used, of }) => {
    const shown = limit === "money_micros" ? costText : compactNumber;
    const text = said.ofLimit(used === null ? costText(null) : shown(used), shown(of));
    const isReached = used !== null && used >= of;
    const action = isReached ? h("a", { class: "button", href: link(limit), "data-testid": "raise-limit" }, said.raise) : undefined;
    return budgetBar({ label: said.limits[limit], used: used ?? 0, limit: of, text: isReached ? `${text}, ${said.reached}` : text, action });
  });
  return [
    named ? h("h3", {}, profile) : "",
    ...(bars.length > 0 ? bars : [h("p", { class: "none" }, said.noLimits)]),
    h("p", { class: "none" }, said.untilMidnight, " ", h("a", { href: link("steps") }, said.changeLimits)),
  ].filter(Boolean);
}

/** Days are counted by UTC, and so is today. */
const dayName = (day) => (day === new Date().toISOString().slice(0, 10) ? said.today : dayText(day));

function reportNodes({ days = [], models = [], total }, measure, choose) {
  if ((total?.requests ?? 0) === 0 && MEASURES.calls(total ?? {}) === 0) return [emptyState(said.nothingUsed, said.nothingUsedHelp)];
  const choices = Object.entries(said.measures);
  const place = h("div", {});
  const draw = (value) => place.replaceChildren(dayTable([...days.map((day) => [dayName(day.day), day]), [said.inAll, total]], value));
  draw(measure);
  const pick = segmented(said.measure, choices, measure, (value) => (choose(value), draw(value)));
  const isUnknown = [...days, ...models].some(({ cost_micros: cost }) => cost === null || cost === undefined);
  const rates = h("a", { href: addressOf("settings", "model") }, said.setRates);
  return [
    h("section", {}, h("h2", {}, said.days), h("p", { class: "usage-measure" }, pick), place),
    models.length > 0 ? h("section", {}, h("h2", {}, said.models), modelTable(models)) : "",
    isUnknown ? h("p", { class: "none" }, said.unknownCost, " ", rates) : "",
  ].filter(Boolean);
}

const number = (value) => h("td", { title: String(value ?? 0) }, compactNumber(value ?? 0));
const heads = (names) => h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name))));
const scroll = (label, table) => h("div", { class: "table-box", tabindex: "0", role: "region", "aria-label": label }, table);

/** One row a day, with a bar under the name for what was chosen. The sum of all days has none: it would dwarf them. */
function dayTable(rows, measure) {
  const most = Math.max(1, ...rows.slice(0, -1).map(([, used]) => MEASURES[measure](used)));
  const body = rows.map(([name, used], index) => {
    const calls = used.tool_calls ?? {};
    const beside = [calls.failed && `${calls.failed} ${said.failed}`, calls.open && `${calls.open} ${said.open}`].filter(Boolean).join(", ");
    const drawn = index === rows.length - 1 ? "" : bar(MEASURES[measure](used) / most);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, name, drawn),
      number(used.requests),
      number(used.input_tokens),
      number(used.output_tokens),
      h("td", {}, costText(used.cost_micros)),
      h("td", { title: beside }, compactNumber(MEASURES.calls(used)), beside ? h("span", { class: "beside" }, beside) : ""),
    );
  });
  const names = [said.day, said.requests, said.tokensIn, said.tokensOut, said.cost, said.toolCalls];
  return scroll(said.days, h("table", { class: "usage-table", "data-testid": "usage-days" }, heads(names), h("tbody", {}, body)));
}

function modelTable(models) {
  const body = models.map((model) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", dir: "auto" }, model.model),
      number(model.requests),
      number(model.input_tokens),
      number(model.output_tokens),
      h("td", {}, costText(model.cost_micros)),
      h("td", {}, model.p50_ms === null || model.p50_ms === undefined ? "–" : `${decimal(model.p50_ms / 1000, 1)} s`),
    ),
  );
  const names = [said.model, said.requests, said.tokensIn, said.tokensOut, said.cost, said.latency];
  return scroll(said.models, h("table", { class: "usage-table", "data-testid": "usage-models" }, heads(names), h("tbody", {}, body)));
}
