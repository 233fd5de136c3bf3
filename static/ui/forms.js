// The parts of forms: fields, choices, switches.

import { h } from "../core/dom.js";
import { keyAlong } from "./along.js";
import { saidNodes } from "./said.js";

let made = 0;

/** A labelled field around `control`, with a sentence of help and a place for what is wrong: `{ node, control, wrong(text) }`. */
export function field(label, control, help) {
  made += 1;
  const [name, about, fault] = ["name", "help", "fault"].map((part) => `form-${part}-${made}`);
  const problem = h("span", { class: "wrong", id: fault, role: "alert", hidden: true });
  const node = h("label", { class: "field" }, h("span", { id: name }, label), control, help ? h("span", { class: "help", id: about }, help) : "", problem);
  // Else help and fault would be read as parts of the name.
  control.setAttribute("aria-labelledby", name);
  control.setAttribute("aria-describedby", help ? `${about} ${fault}` : fault);
  const wrong = (text) => {
    problem.hidden = !text;
    problem.replaceChildren(...saidNodes(text ?? ""));
    control.setAttribute("aria-invalid", String(Boolean(text)));
  };
  return { node, control, wrong };
}

/** A field for one line of text. */
export function input(attributes = {}) {
  return h("input", { type: "text", class: "input", autocomplete: "off", dir: "auto", ...attributes });
}

/** A choice of one among `options`, each `[value, text]`. */
export function select(options, value, changed) {
  const all = options.map(([each, text]) => h("option", { value: each, selected: each === value }, text));
  return h("select", { class: "input", onchange: (event) => changed(event.target.value) }, all);
}

/** A switch, which holds at once. */
export function toggle(label, on, changed, help) {
  const box = h("input", { type: "checkbox", role: "switch", checked: on });
  box.addEventListener("change", () => changed(box.checked, box));
  const text = h("span", { class: "field" }, h("span", {}, label), help ? h("span", { class: "help" }, help) : "");
  return h("label", { class: "switch" }, box, text);
}

/** A choice of one among a few that stand side by side. Arrows move, as among radio buttons. */
export function segmented(label, options, value, changed) {
  const group = h("div", { class: "segmented", role: "radiogroup", "aria-label": label });
  const choose = (chosen, focus) => {
    for (const each of group.children) {
      const is = each.dataset.value === chosen;
      each.setAttribute("aria-checked", String(is));
      each.tabIndex = is ? 0 : -1;
      if (is && focus) each.focus();
    }
    if (focus !== undefined) changed(chosen);
  };
  for (const [each, text] of options) {
    const pick = () => choose(each, false);
    group.append(h("button", { type: "button", role: "radio", "data-value": each, onclick: pick }, text));
  }
  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[keyAlong(event)];
    if (!step) return;
    event.preventDefault();
    const at = options.findIndex(([each]) => each === document.activeElement.dataset.value);
    choose(options[(at + step + options.length) % options.length][0], true);
  });
  choose(value);
  /** Shows another choice, which was made elsewhere. */
  group.choose = (other) => choose(other);
  return group;
}
