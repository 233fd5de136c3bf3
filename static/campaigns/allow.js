// The form by which a person allows the next things of a kind, so that each is not asked about.

import { h } from "../core/dom.js";
import { serverNow } from "../core/server-clock.js";
import { field, input, select } from "../ui/forms.js";
import { orderForm } from "./part.js";
import { campaigns as said } from "./words.js";

const HOUR = 3_600_000;
/** The kinds that have a type besides. */
const TYPED = ["persist"];

/** No proposal keeps one of this type. */
const NEVER_PROPOSED = "environment";

/** The form, as `orderForm` gives it. */
export function allowForm({ api, id, load, announce }) {
  const chosen = { kind: "persist", type: "" };
  const kept = Object.entries(said.types).filter(([type]) => type !== NEVER_PROPOSED);
  const types = select([["", said.anyType], ...kept], "", (type) => (chosen.type = type));
  const typed = field(said.type, types);
  const kinds = select(Object.entries(said.contextKinds), chosen.kind, (kind) => {
    chosen.kind = kind;
    typed.node.hidden = !TYPED.includes(kind);
  });
  const count = input({ type: "number", min: "1", max: "50", value: "5", dir: "ltr", "data-testid": "campaigns-allow-count" });
  const hours = input({ type: "number", min: "1", max: "24", value: "1", dir: "ltr", "data-testid": "campaigns-allow-hours" });
  kinds.dataset.testid = "campaigns-allow-kind";
  types.dataset.testid = "campaigns-allow-type";
  async function work() {
    const type = TYPED.includes(chosen.kind) && chosen.type !== "" ? chosen.type : undefined;
    // A little less than the whole: a full day from now is over a day when it arrives.
    const until = new Date(serverNow() + Number(hours.value) * HOUR - 60_000).toISOString();
    const { told } = await api.allowNext(id, { kind: chosen.kind, ...(type && { type }), count: Math.trunc(Number(count.value)), until });
    announce(told);
    await load();
  }
  const controls = [
    h("p", { class: "campaigns-note" }, said.allowHelp),
    h("div", { class: "campaigns-row" }, field(said.kind, kinds).node, typed.node),
    h("div", { class: "campaigns-row" }, field(said.allowCount, count).node, field(said.allowHours, hours).node),
  ];
  return orderForm({ id: "campaigns-allow", title: said.allowTitle, controls, yes: said.allow, work });
}
