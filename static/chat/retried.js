// Turns that were tried again elsewhere, as the server's list of conversations tells: Retry makes a
// branch at the first frame of the turn itself, and nothing else does. So every tab and browser
// knows the same. Pure.

import { sameFields } from "../core/dom.js";

/** `retried(state, conversation, entries)`: turn → the newest conversation in which it was tried again; the same object while nothing changes. */
export function createRetried() {
  let seen = [];
  let known = {};
  return function retried(state, conversation, entries = []) {
    const now = [state.turns, conversation, entries];
    if (now.every((each, index) => each === seen[index])) return known;
    seen = now;
    const branches = entries.filter(({ from }) => from?.conversation === conversation).toSorted((a, b) => a.id - b.id);
    const places = new Map(branches.map(({ id, from }) => [from.seq, id]));
    const turns = places.size > 0 ? [...state.turns].filter(([, { order }]) => places.has(order)) : [];
    const next = Object.fromEntries(turns.map(([turn, { order }]) => [turn, places.get(order)]));
    if (!sameFields(known, next)) known = next;
    return known;
  };
}
