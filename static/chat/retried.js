// Turns that were tried again elsewhere, as the server tells of a conversation's branches: Retry
// makes a branch at the first frame of the turn itself, and nothing else does. So every tab and
// browser knows the same.

import { sameFields } from "../core/dom.js";

const NONE = [];

/**
 * `retried(state, conversation, entries)`: turn → the newest conversation in which it was tried again; the same object while nothing changes. The
 * server is asked for the branches of a conversation once, and again when the list, `entries`, has others of it; `told()` is called with what it says.
 */
export function createRetried(api, told) {
  /** conversation → what the list had of it when it was asked for, and its branches. */
  const asked = new Map();
  let seen = [];
  let known = {};

  async function ask(conversation, mark) {
    const own = { mark, branches: asked.get(conversation)?.branches ?? NONE };
    asked.set(conversation, own);
    // An answer that cannot be had changes nothing.
    const answer = await api.ask("GET", `/api/conversations/${conversation}`).catch(() => undefined);
    if (!answer || asked.get(conversation) !== own) return;
    own.branches = answer.branches ?? NONE;
    told();
  }

  return function retried(state, conversation, entries) {
    const mark = entries?.filter(({ from }) => from?.conversation === conversation).map(({ id }) => id).join();
    // Without a turn there is none to be tried again, and the server may not have the conversation.
    if (mark !== undefined && state.turns.size > 0 && asked.get(conversation)?.mark !== mark) ask(conversation, mark);
    const now = [state.turns, asked.get(conversation)?.branches ?? NONE];
    if (now.every((each, index) => each === seen[index])) return known;
    seen = now;
    // The oldest comes first, so the newest stays.
    const places = new Map(now[1].map((branch) => [branch.seq, branch.conversation]));
    const turns = places.size > 0 ? [...state.turns].filter(([, { order }]) => places.has(order)) : [];
    const next = Object.fromEntries(turns.map(([turn, { order }]) => [turn, places.get(order)]));
    if (!sameFields(known, next)) known = next;
    return known;
  };
}
