// The words of an empty conversation, and its suggestions.

import { words } from "../core/words.js";

const said = words.talk;

/** The greeting for the model there is; none before the server has said which. */
export function greetingOf(hello) {
  if (!hello) return undefined;
  return said.greetings[hello.model.kind === "tour" ? "tour" : "model"];
}

/**
 * The suggestions: always in the tour, which understands little else; else in an empty conversation, three, by what there is: the newest
 * capability, tasks that are open, and how each begins.
 */
export function suggestionsOf(hello, isEmpty, { capabilities = [], tasks = [] } = {}) {
  if (hello?.model.kind === "tour") return said.tour;
  if (!isEmpty || !hello) return [];
  const usable = capabilities.filter(({ enabled }) => enabled !== false);
  const newest = usable.toSorted((a, b) => (Date.parse(b.updated_at) || 0) - (Date.parse(a.updated_at) || 0))[0];
  return [
    newest ? said.does(newest.name) : said.make,
    usable.length > 2 ? said.better : said.table,
    tasks.length > 0 ? said.doFirst(tasks.length) : said.remind,
  ];
}

/** True if a conversation has anything to show. */
export const isBegun = ({ items, turns, outbox, notices, streams }) => items.size + turns.size + outbox.length + notices.length + streams.size > 0;
