// A line of filters over a list: choices, words, days. Each says at once what is wanted.

import { h } from "../core/dom.js";
import { button } from "./button.js";

/**
 * Filters for `fields`: each has a `name`, a `label`, and either `options` (`[value, text]`, the first stands for all) or a `type` of an input, with
 * `hint` for what may stand in it. `changed(values)` is told; empty ones are "". Gives `{ node, values(), offer(name, options), set(values) }`.
 */
export function filterBar({ label, fields, clear, changed }) {
  const controls = new Map(fields.map((field) => [field.name, control(field)]));
  const values = () => Object.fromEntries([...controls].map(([name, { value }]) => [name, value]));
  const reset = button(clear, () => (set({}), changed(values())), { kind: "quiet" });
  const tell = () => {
    reset.hidden = Object.values(values()).every((value) => value === "");
    changed(values());
  };
  const set = (wanted) => {
    for (const [name, node] of controls) node.value = wanted[name] ?? "";
    reset.hidden = Object.values(values()).every((value) => value === "");
  };
  const parts = fields.map(({ name, label: text }) => h("label", { class: "filter" }, h("span", {}, text), controls.get(name), controls.get(name).hints ?? ""));
  const node = h("form", { class: "filters", "aria-label": label, role: "search" }, parts, reset);
  node.addEventListener("change", tell);
  node.addEventListener("submit", (event) => event.preventDefault());
  set({});
  /** The choices of a field, once they are known; the one that was made stays. */
  const offer = (name, options) => {
    const field = controls.get(name);
    const { value } = field;
    (field.hints ?? field).replaceChildren(...options.map(optionOf));
    field.value = value;
  };
  return { node, values, offer, set };
}

let made = 0;

function control({ name, options, type, hint }) {
  const testid = `filter-${name}`;
  if (options) return h("select", { class: "input", name, "data-testid": testid }, options.map(optionOf));
  const field = h("input", { class: "input", type, name, "data-testid": testid, placeholder: hint, autocomplete: "off", spellcheck: "false" });
  if (type === "text") {
    field.hints = h("datalist", { id: `filter-hints-${(made += 1)}` });
    field.setAttribute("list", field.hints.id);
  }
  return field;
}

const optionOf = ([value, text]) => h("option", { value }, text);
