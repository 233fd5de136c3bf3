// The law as far as the page knows it: approvals, operations of capabilities, what a second model
// said. Pure, part of the reducer.

import { hasEnded, putItem, withEntry, withTurn } from "./state-parts.js";

/** items → what waited among them, and the turns of that time: many parts of the page ask this in each frame. */
const pendingOf = new WeakMap();

/** The approvals that wait for a person, the oldest first. */
export function waiting({ items, turns }) {
  const before = pendingOf.get(items);
  if (before?.turns === turns) return before.pending;
  const pending = [];
  for (const item of items.values()) if (item.kind === "approval" && !item.decision && !hasEnded(turns.get(item.turn))) pending.push(item);
  pending.sort((a, b) => a.at - b.at);
  pendingOf.set(items, { turns, pending });
  return pending;
}

/** An approval was asked for, or decided. The two may come in either order, and each more than once. */
export function approvalChanged(state, frame) {
  const key = `approval:${frame.id}`;
  const known = state.items.get(key) ?? { key, kind: "approval", id: frame.id, call: frame.call, turn: frame.turn };
  let item;
  if (frame.state === "pending") {
    if (known.shown) return state;
    item = { ...known, at: frame.seq, shown: shownOf(frame), expiresAt: frame.expires_at };
  } else {
    if (known.decision) return state;
    const { state: outcome, channel, reason, decided_at: at } = frame;
    item = {
      ...known,
      at: known.at ?? frame.seq,
      decision: { state: outcome, channel, reason, at },
      sending: undefined,
    };
  }
  return withTurn({ ...state, items: withEntry(state.items, key, item) }, frame);
}

/** Nothing waits in other conversations. */
export const NOTHING_ELSEWHERE = { ids: [], known: new Map(), sending: new Map() };

/** The server says which approvals wait in conversations that this page does not show; what they are is asked for then. */
export function waitingElsewhere(state, { approvals: ids }) {
  const still = (map) => new Map([...map].filter(([id]) => ids.includes(id)));
  const { known, sending } = state.elsewhere;
  return { ...state, elsewhere: { ids, known: still(known), sending: still(sending) } };
}

/** The answer to that question. A question of the page's own conversation is there by its frames. */
export function waitingListed(state, entries) {
  const known = new Map(state.elsewhere.known);
  for (const { id, conversation, shown, expires_at: expiresAt } of entries) {
    if (!state.elsewhere.ids.includes(id) || known.has(id)) continue;
    known.set(id, { id, conversation, shown: shownOf(shown), expiresAt });
  }
  return { ...state, elsewhere: { ...state.elsewhere, known } };
}

/** The content of an approval, from a frame or from the list. */
export function shownOf({ tool, arguments: args, what, question, why, can_always: canAlways, words, capability }) {
  return { tool, args, what: what ?? [], question, why: why ?? "", canAlways: canAlways === true, words, capability };
}

/** The person pressed a button; the server has not answered yet. `decision` is `approve`, `always` or `deny`. */
export function deciding(state, approval, decision) {
  if (state.elsewhere.known.has(approval)) {
    const sending = new Map(state.elsewhere.sending).set(approval, decision);
    return { ...state, elsewhere: { ...state.elsewhere, sending } };
  }
  const key = `approval:${approval}`;
  const known = state.items.get(key);
  if (!known || known.decision) return state;
  return { ...state, items: new Map(state.items).set(key, { ...known, sending: decision }) };
}

/** Decisions under way may not have arrived: their buttons come back. */
export function undecided(state) {
  let items = state.items;
  for (const [key, item] of state.items) {
    if (!item.sending) continue;
    items = items === state.items ? new Map(items) : items;
    items.set(key, { ...item, sending: undefined });
  }
  const { elsewhere } = state;
  if (elsewhere.sending.size > 0) state = { ...state, elsewhere: { ...elsewhere, sending: new Map() } };
  return items === state.items ? state : { ...state, items };
}

/** A capability did something outside its sandbox, or is about to. */
export function operationChanged(state, frame) {
  const { call, ordinal, power, request, state: operationState, seq } = frame;
  const known = state.operations.get(call) ?? [];
  if (known.some((operation) => operation.ordinal === ordinal && operation.seq >= seq)) return state;
  const rest = known.filter((operation) => operation.ordinal !== ordinal);
  const list = [...rest, { ordinal, power, request, state: operationState, seq }].sort((a, b) => a.ordinal - b.ordinal);
  return { ...state, operations: withEntry(state.operations, call, list) };
}

/** A second model said what it thinks of a proposal. */
export function callClassified(state, frame) {
  if (state.classified.has(frame.call)) return state;
  const { complexity, risk, impact, requires_confirmation: confirm } = frame;
  const said = { complexity, risk, impact, confirm: confirm === true };
  return { ...state, classified: new Map(state.classified).set(frame.call, said) };
}

/** A person put back what a call had deleted or overwritten. */
export function callUndone(state, frame) {
  return { ...state, undone: new Map(state.undone).set(frame.call, frame.rows) };
}

/** A capability went live, or was disabled, enabled or rolled back. */
export function capabilityChanged(state, frame) {
  const { name, version, seq } = frame;
  const enabled = frame.enabled !== false;
  const next = putItem(state, frame, `capability:${seq}`, { kind: "capability", name, version, enabled });
  if (state.capabilities.get(name)?.seq >= seq) return next;
  const capabilities = new Map(state.capabilities).set(name, { name, version, enabled, seq });
  return {
    ...next,
    capabilities,
    lists: seq > state.lastSeq ? patched(state.lists, name, version, enabled) : state.lists,
  };
}

/** The server's list with what a frame says; the rest of the entry comes when the list is asked for again. */
function patched(lists, name, version, enabled) {
  const entries = lists.capabilities?.entries;
  if (!entries) return lists;
  const known = entries.find((entry) => entry.name === name);
  const rest = entries.filter((entry) => entry !== known);
  return {
    ...lists,
    capabilities: { ...lists.capabilities, entries: [...rest, { ...known, name, version, enabled }] },
  };
}
