// A form that says what is saved and when it holds.

import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { button } from "../ui/button.js";
import { saidAtField } from "../ui/refused.js";
import { saidNodes } from "../ui/said.js";
import { said } from "./words.js";

/**
 * A form of `body`, whose `save()` sends what stands in it; what it throws is shown, at one of `fields` if it is about that. `holds` says when a
 * change holds. `text` stands on the button.
 * Gives the form.
 */
export function savingForm({ label, body, holds, save, text = words.say.save, testid, fields = {} }) {
  const state = h("p", { class: "form-state", role: "status" }, holds);
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const go = button(text, send, { type: "submit" });
  const form = h("form", { class: "saving-form", "aria-label": label, "data-testid": testid }, body, problem, h("div", { class: "form-foot" }, go, state));

  async function send() {
    if (!form.reportValidity()) return;
    problem.hidden = true;
    for (const { wrong } of Object.values(fields)) wrong(undefined);
    state.textContent = said.saving;
    try {
      const told = await save();
      state.textContent = told ?? said.saved(holds);
    } catch (error) {
      problem.hidden = saidAtField(error, fields);
      problem.replaceChildren(...(problem.hidden ? [] : saidNodes(error.message)));
      state.textContent = said.unsaved;
    }
    // Words about the fields may have pushed it away by now.
    if (document.activeElement === go) go.scrollIntoView({ block: "nearest" });
  }

  form.addEventListener("input", () => (state.textContent = said.unsaved));
  // The button sends; Enter in a field presses it.
  form.addEventListener("submit", (event) => event.preventDefault());
  return form;
}
