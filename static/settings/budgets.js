// Budgets: how much a turn, a conversation and a day may use up.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { field, input } from "../ui/forms.js";
import { profilePart } from "./profiles.js";
import { dollarsOf, microsOf } from "./rates.js";
import { savingForm } from "./saving.js";
import { said } from "./words.js";

const SPENT = ["steps", "input_tokens", "output_tokens", "money_micros", "tool_calls"];
/** The limits that each span can have. Seconds are a limit of a turn alone. */
export const LIMITS = {
  turn: ["steps", "wall_seconds", "input_tokens", "output_tokens", "money_micros", "tool_calls"],
  conversation: SPENT,
  day: SPENT,
  tasks: ["turns_per_hour", "percent_of_day"],
};

/** The limits to be sent for the texts of the fields (`span.limit` → text): every limit, `null` for none. Throws for what is no number. Pure. */
export function budgetsOf(texts) {
  const read = (name, limit) => {
    const text = texts[name].trim();
    if (text === "") return null;
    const value = limit === "money_micros" ? microsOf(text) : /^\d+$/.test(text) ? Number(text) : undefined;
    if (value === undefined || !Number.isSafeInteger(value)) throw Object.assign(new Error(limit === "money_micros" ? said.wrongNumber : said.wrongWhole), { name });
    return value;
  };
  return Object.fromEntries(
    Object.entries(LIMITS).map(([span, limits]) => [span, Object.fromEntries(limits.map((limit) => [limit, read(`${span}.${limit}`, limit)]))]),
  );
}

/** The part of it. */
export function budgetSection({ api, gone, profiles, site }) {
  let wanted;
  let iterations;
  let fields = new Map();
  const goTo = (name) => {
    wanted = name;
    const control = fields.get(name)?.control;
    if (!control) return name !== undefined;
    wanted = undefined;
    control.scrollIntoView({ block: "center" });
    control.focus({ preventScroll: true });
    return true;
  };
  const make = ({ profile, budgets }) => {
    fields = new Map(Object.entries(LIMITS).flatMap(([span, limits]) => limits.map((limit) => [`${span}.${limit}`, fieldOf(span, limit, budgets[span][limit])])));
    return [budgetForm(api, profile, fields)];
  };
  // A setting of the server limits the requests of a turn if no budget does.
  site.told((settings) => {
    const { value } = settings.find(({ name }) => name === "MAX_TOOL_ITERATIONS") ?? {};
    const [, , byDefault] = said.names.MAX_TOOL_ITERATIONS;
    iterations = value ?? byDefault;
    fields.get("turn.steps")?.help(iterations);
  });
  const shown = () => {
    if (iterations !== undefined) fields.get("turn.steps").help(iterations);
    if (wanted !== undefined) goTo(wanted);
  };
  const part = profilePart({ api, gone, profiles, make, shown });
  const used = h("a", { href: addressOf("activity", "usage") }, said.used);
  return { nodes: [h("p", { class: "none" }, said.budgetsHelp, " ", used), ...part.nodes], goTo };
}

function fieldOf(span, limit, value) {
  const text = value === null || value === undefined ? "" : limit === "money_micros" ? dollarsOf(value) : String(value);
  const control = input({ inputmode: limit === "money_micros" ? "decimal" : "numeric", value: text, "data-testid": `budget-${span}.${limit}` });
  const { node, wrong } = field(said.limits[limit], control, limit === "steps" && span === "turn" ? " " : undefined);
  return { node, control, wrong, help: (iterations) => (node.querySelector(".help").textContent = said.stepsHelp(iterations)) };
}

function budgetForm(api, profile, fields) {
  const groups = Object.entries(LIMITS).map(([span, limits]) =>
    h("fieldset", { class: "budget-span" }, h("legend", {}, said.spans[span]), limits.map((limit) => fields.get(`${span}.${limit}`).node)),
  );
  const save = async () => {
    const texts = Object.fromEntries([...fields].map(([name, { control }]) => [name, control.value]));
    for (const { wrong } of fields.values()) wrong(undefined);
    try {
      await api.changePolicy(profile, { budgets: budgetsOf(texts) });
    } catch (error) {
      const at = fields.get(error.name);
      at?.wrong(error.message);
      at?.control.focus();
      throw error;
    }
  };
  return savingForm({ label: said.sections.budgets, testid: "budget-form", holds: said.nextStep, body: groups, save });
}
