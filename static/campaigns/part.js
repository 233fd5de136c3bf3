// A row of any list of this place: shown anew only when something of it changed, and then what is
// open, written or has the focus stays so.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { problemLine } from "../ui/section.js";

class CampaignPart extends HTMLElement {
  set data({ item, told, show }) {
    if (this.told === told) return;
    this.told = told;
    const part = this.contains(document.activeElement) ? document.activeElement.dataset.part : undefined;
    const open = [...this.querySelectorAll("details[open]")].map(({ dataset }) => dataset.part);
    const written = [...this.querySelectorAll("textarea")].map(({ dataset, value }) => [dataset.part, value]);
    this.setAttribute("role", "listitem");
    this.replaceChildren(...[show(item, this)].flat().filter(Boolean));
    const again = (name) => this.querySelector(`[data-part="${CSS.escape(name)}"]`);
    for (const name of open) again(name)?.setAttribute("open", "");
    for (const [name, value] of written) if (again(name)) again(name).value = value;
    if (part) (again(part) ?? this.querySelector("button, a, summary"))?.focus();
  }
}
customElements.define("l3-campaign-part", CampaignPart);

/** Rows for `keyed`, each shown by `show(item, node)`. */
export const partRows = (items, keyOf, show) => items.map((item) => ({ key: keyOf(item), item, show, told: JSON.stringify(item) }));

/** Makes the element. */
export const makePart = () => document.createElement("l3-campaign-part");

/** A section with a title, its list and what stands there if that is empty: `{ node, list, none }`. */
export function listSection(title, empty, id) {
  const list = h("div", { class: "campaigns-list", role: "list", "aria-label": title });
  const none = h("p", { class: "none", hidden: true }, empty);
  const node = h("section", { "data-testid": id }, h("h2", {}, title), none, list);
  return { node, list, none };
}

/**
 * A form that is folded away until a person wants it; `work()` does what it says, and what it throws is said above the button. Gives the
 * element, with `open(control)`, which unfolds it and goes to a control.
 */
export function orderForm({ id, title, controls, yes, work }) {
  const { line, say } = problemLine();
  const act = async () => {
    say(undefined);
    try {
      await work();
    } catch (error) {
      say(error.message);
    }
  };
  const go = button(yes, act, { "data-testid": `${id}-go` });
  const form = h("form", { class: "campaigns-order" }, controls, line, go);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go.click();
  });
  const node = h("details", { class: "campaigns-more", "data-testid": id }, h("summary", {}, title), form);
  const open = (control) => {
    node.open = true;
    control.focus();
  };
  return { node, open };
}

/** A state as a small word. */
export const stateWord = (state, text, more = {}) => h("span", { class: "campaigns-state", "data-state": state, ...more }, text);

/** Names and values, without those that have none. */
export const pairs = (all) => h("dl", { class: "campaigns-pairs" }, all.filter(([, value]) => value !== undefined && value !== "").flatMap(([name, value]) => [h("dt", {}, name), h("dd", { dir: "auto" }, value)]));
