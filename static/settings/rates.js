// The costs of models: a rate for each model that was used or has one. A cost without a rate is
// unknown, never guessed.

import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { mainState } from "../core/workspace.js";
import { button } from "../ui/button.js";
import { input } from "../ui/forms.js";
import { errorState, waitingFor } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { said } from "./words.js";

const MICROS = 1_000_000;

/** Dollars as a person writes them, in millionths; `undefined` if it is no amount, or has a part that is smaller. Pure. */
export function microsOf(text) {
  const written = text.trim().replace(",", ".");
  if (!/^(?=\.?\d)\d*(\.\d{0,6}0*)?$/.test(written)) return undefined;
  const micros = Math.round(Number(written) * MICROS);
  return Number.isSafeInteger(micros) ? micros : undefined;
}

/** Millionths of a dollar as they are written. Pure. */
export const dollarsOf = (micros) => String(micros / MICROS);

/** The nodes of it; they end with the signal `gone`. */
export function rateNodes({ session, api, gone }) {
  const body = h("div", { class: "rates" }, waitingFor(load, 2));
  const usage = () => mainState(session.store.getState()).lists.usage?.entries?.models ?? [];

  async function load() {
    try {
      const { rates } = await api.rates();
      if (!gone.aborted) show(rates);
    } catch (error) {
      if (!gone.aborted) body.replaceChildren(errorState(error.message, load));
    }
  }

  function show(rates) {
    const { hello } = mainState(session.store.getState());
    const current = hello && hello.model.kind !== "tour" ? [hello.model.name] : [];
    const models = [...new Set([...Object.keys(rates), ...current, ...usage().map(({ model }) => model)])].filter(Boolean);
    const rows = models.toSorted().map((model) => rateRow(model, rates[model]));
    // The column of the buttons has no name.
    const heads = [...[said.rateModel, said.rateIn, said.rateOut].map((name) => h("th", { scope: "col" }, name)), h("td", {})];
    const table = h("table", { class: "rate-table" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows));
    body.replaceChildren(table, newRate());
  }

  async function set(model, rate) {
    const { rates } = await api.setRate(model, rate);
    show(rates);
    toast(said.saved(said.now));
  }

  function rateRow(model, rate) {
    const fields = amounts(model, rate);
    const save = button(words.say.save, () => trying(fields, () => set(model, rateOf(fields))), { kind: "quiet", "aria-label": `${words.say.save} ${model}` });
    const forget = rate ? button(said.forget, () => trying(fields, () => set(model, null)), { kind: "quiet", "aria-label": `${said.forget} ${model}` }) : "";
    return h("tr", {}, h("th", { scope: "row", dir: "auto" }, model), fields.map((field) => h("td", {}, field)), h("td", {}, save, forget));
  }

  function newRate() {
    const name = input({ placeholder: said.rateModel, "aria-label": said.rateModel });
    const fields = amounts(said.rateModel);
    const add = button(said.addRate, () => name.value.trim() && trying(fields, () => set(name.value.trim(), rateOf(fields))));
    return h("form", { class: "rate-new", onsubmit: (event) => event.preventDefault() }, name, fields, add);
  }

  load();
  return [h("p", { class: "none" }, said.ratesHelp), body];
}

function amounts(model, rate) {
  const one = (label, micros) => input({ inputmode: "decimal", "aria-label": `${model}: ${label}`, placeholder: said.noRate, value: micros === undefined ? "" : dollarsOf(micros) });
  return [one(said.rateIn, rate?.input_micros), one(said.rateOut, rate?.output_micros)];
}

function rateOf(fields) {
  const [inputMicros, outputMicros] = fields.map(({ value }) => microsOf(value));
  for (const [index, micros] of [inputMicros, outputMicros].entries()) {
    fields[index].setAttribute("aria-invalid", String(micros === undefined));
    if (micros === undefined) throw new Error(said.wrongNumber);
  }
  return { input_micros: inputMicros, output_micros: outputMicros };
}

async function trying(fields, action) {
  try {
    await action();
  } catch (error) {
    toast(error.message);
    fields.find((field) => field.getAttribute("aria-invalid") === "true")?.focus();
  }
}
