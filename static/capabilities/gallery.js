// All capabilities, and the ways in which one comes: the assistant writes it, it comes with level3,
// or a person has it as a file.

import { h, keyed } from "../core/dom.js";
import { words } from "../core/words.js";
import { button } from "../ui/button.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";
import { bringing } from "./bring.js";
import "./card.js";
import { capabilities as said } from "./words.js";

/** The gallery: `{ node, show(entries, list) }`. `list` is what the state has of the server's list. */
export function gallery({ session, announce, signal }) {
  const cards = h("div", { class: "capability-cards", role: "list", "aria-label": words.places.capabilities });
  const none = emptyState(said.none, said.noneHelp);
  none.hidden = true;
  const waiting = h("div", {}, waitingFor(() => session.lists.load("capabilities")));
  const problem = h("div", {});
  const bring = bringing({ session, announce, signal });
  const count = h("h2", { hidden: true });
  const node = h("div", { "data-testid": "capabilities" }, h("div", { class: "place-bar" }, count, bring.importButton), bring.note, problem, waiting, none, cards, bring.node);
  let names;
  const show = (entries, list) => {
    const rows = entries.map((entry) => ({ key: entry.name, entry, told: JSON.stringify(entry) }));
    // Lists are new objects each time they are read: what says the same is the same.
    for (const row of rows) {
      const shown = cards.keyedNodes?.get(row.key)?.shownRow;
      if (shown?.told === row.told) row.entry = shown.entry;
    }
    keyed(cards, rows, () => document.createElement("l3-capability"));
    const isKnown = list?.entries !== undefined;
    count.hidden = rows.length === 0;
    count.textContent = rows.length > 0 ? said.all(rows.length) : "";
    waiting.hidden = rows.length > 0 || isKnown || Boolean(list?.error);
    none.hidden = rows.length > 0 || !isKnown;
    if (problem.told !== list?.error) {
      problem.told = list?.error;
      problem.replaceChildren(list?.error ? errorState(said.cannotList(list.error), () => session.lists.load("capabilities")) : "");
    }
    const now = rows.map(({ key, entry }) => `${key} ${entry.version}`).join();
    if (isKnown && names !== now) bring.load();
    if (isKnown) names = now;
  };
  return { node, show };
}

/** A link that looks like a button of the quiet kind, for the way back. */
export const backButton = (action) => button(words.places.capabilities, action, { kind: "quiet", icon: "back", "data-testid": "capabilities-back" });
