// Budgets: how much a turn, a conversation and a day may use up.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { locale } from "../core/words.js";
import { field, input } from "../ui/forms.js";
import { wrongAt } from "../ui/refused.js";
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

/** Limits of the operator that stand elsewhere: each of its starts writes them here. */
const IN_CONFIG = { "turn.steps": "max_iterations", "turn.wall_seconds": "max_runtime_minutes" };

/** The limits to be sent for the texts of the fields (`span.limit` → text): every limit, `null` for none. Throws for what is none. Pure. */
export function budgetsOf(texts) {
  const read = (name, limit) => {
    const text = texts[name].trim();
    if (text === "") return null;
    const value = limit === "money_micros" ? microsOf(text) : /^\d+$/.test(text) ? Number(text) : undefined;
    if (value === undefined) throw wrongAt(name, limit === "money_micros" ? said.wrongNumber : said.wrongWhole);
    if (value > Number.MAX_SAFE_INTEGER) throw wrongAt(name, said.tooMuch(Number.MAX_SAFE_INTEGER.toLocaleString(locale)));
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
  const goTo = (name, profile) => {
    if (profile !== undefined && part.choose(profile)) fields = new Map();
    wanted = name;
    const control = fields.get(name)?.control;
    if (!control) return name !== undefined;
    wanted = undefined;
    control.scrollIntoView({ block: "center" });
    control.focus({ preventScroll: true });
    return true;
  };
  const make = ({ profile, budgets }) => {
    fields = new Map(Object.entries(LIMITS).flatMap(([span, limits]) => limits.map((limit) => [`${span}.${limit}`, fieldOf(profile, span, limit, budgets[span][limit])])));
    return [budgetForm(api, profile, budgets, fields)];
  };
  // A setting of the server limits the requests of a turn if no budget does.
  site.told((settings) => {
    const { value } = settings.find(({ name }) => name === "MAX_TOOL_ITERATIONS") ?? {};
    const [, , byDefault] = said.names.MAX_TOOL_ITERATIONS;
    iterations = value ?? byDefault;
    fields.get("turn.steps")?.help?.(iterations);
  });
  const shown = () => {
    if (iterations !== undefined) fields.get("turn.steps").help?.(iterations);
    if (wanted !== undefined) goTo(wanted);
  };
  const part = profilePart({ api, gone, profiles, make, shown });
  const used = h("a", { href: addressOf("activity", "usage") }, said.used);
  return { nodes: [h("p", { class: "none" }, said.budgetsHelp, " ", used), ...part.nodes], goTo };
}

function fieldOf(profile, span, limit, value) {
  const elsewhere = profile === "operator" ? IN_CONFIG[`${span}.${limit}`] : undefined;
  const text = value === null || value === undefined ? "" : limit === "money_micros" ? dollarsOf(value) : String(value);
  const control = input({ inputmode: limit === "money_micros" ? "decimal" : "numeric", value: text, readonly: elsewhere !== undefined, "data-testid": `budget-${span}.${limit}` });
  const { node, wrong } = field(said.limits[limit], control, elsewhere ? said.inConfig(elsewhere) : limit === "steps" && span === "turn" ? " " : undefined);
  const help = elsewhere ? undefined : (iterations) => (node.querySelector(".help").textContent = said.stepsHelp(iterations));
  return { node, control, wrong, help };
}

function budgetForm(api, profile, budgets, fields) {
  const groups = Object.entries(LIMITS).map(([span, limits]) =>
    h("fieldset", { class: "budget-span" }, h("legend", {}, said.spans[span]), limits.map((limit) => fields.get(`${span}.${limit}`).node)),
  );
  const save = async () => {
    const texts = Object.fromEntries([...fields].map(([name, { control }]) => [name, control.value]));
    // A limit that has no field stays as it is.
    const whole = Object.entries(budgetsOf(texts)).map(([span, limits]) => [span, { ...budgets[span], ...limits }]);
    await api.changePolicy(profile, { budgets: Object.fromEntries(whole) });
  };
  return savingForm({ label: said.sections.budgets, testid: "budget-form", holds: said.nextStep, body: groups, save, fields: Object.fromEntries(fields) });
}
