// Tries a capability by hand: a form made from its parameters, and what came of the call. The call
// is an order: the law that holds for the assistant holds for it, and the record is the same.

import { h } from "../core/dom.js";
import { settled } from "../core/orders.js";
import { schemaForm } from "../ui/fields.js";
import { outcomeView } from "./outcome.js";
import { capabilities as said } from "./words.js";

/** The panel of the live version. `changed()` is called after a call. */
export function tryPanel({ api, capability, signal, announce, changed }) {
  const { name, parameters, state } = capability;
  if (state === "disabled") return h("div", {}, h("p", { class: "none" }, said.cannotTry));
  const result = h("div", { "aria-live": "off", "data-testid": "try-result" }, h("p", { class: "none" }, said.resultHere));
  const submit = async (args) => {
    result.replaceChildren(h("p", { class: "none later" }, said.trying));
    try {
      const outcome = await settled(api, await api.callCapability(name, args), signal);
      if (!outcome || signal.aborted) return;
      result.replaceChildren(outcomeView(outcome));
      announce(result.querySelector("[data-testid=outcome]").textContent);
      changed();
    } catch (error) {
      result.replaceChildren();
      throw error;
    }
  };
  return h("div", { class: "try" }, h("p", { class: "none" }, said.tryHelp), schemaForm(parameters, { submit, label: said.call }), result);
}
