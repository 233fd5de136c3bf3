// Approvals as rows to show: in their conversation, and in the inbox those of all conversations.
// Pure.

import { shownOf, waiting } from "./state-law.js";
import { hasEnded } from "./state-parts.js";
import { mainState } from "./workspace.js";

/** The row of an approval in its own conversation. */
export function approvalRow({ key, id, shown, expiresAt, decision, sending }, turn, state) {
  return {
    key,
    kind: "approval",
    id,
    shown,
    expiresAt,
    state: decision?.state ?? (hasEnded(turn) ? "void" : "pending"),
    channel: decision?.channel,
    reason: decision?.reason,
    decidedAt: decision?.at,
    sending,
    connected: state.connection.status === "connected",
  };
}

/**
 * Rows of all that wait, the oldest first: those of conversations that are open here, those that the server says wait elsewhere, and those of
 * its list that neither knows.
 */
export function waitingRows(workspace) {
  const { connection, elsewhere, lists } = mainState(workspace);
  const connected = connection.status === "connected";
  const titles = titlesOf(workspace);
  const found = new Map();
  const put = (id, fields) => found.has(id) || found.set(id, { key: `waits:${id}`, kind: "approval", id, state: "pending", connected, ...fields });
  const closed = new Set();
  for (const [conversation, state] of workspace.states) {
    const title = titles.get(conversation);
    for (const item of waiting(state)) {
      const { id, shown, expiresAt, sending } = item;
      if (shown) put(id, { conversation, title, shown, expiresAt, sending });
    }
    // Decisions made here since the list was asked for.
    for (const item of state.items.values())
      if (item.kind === "approval" && (item.decision || hasEnded(state.turns.get(item.turn)))) closed.add(item.id);
  }
  for (const { id, conversation, shown, expiresAt } of elsewhere.known.values())
    put(id, { conversation, title: titles.get(conversation), shown, expiresAt, sending: elsewhere.sending.get(id) });
  for (const { id, conversation, state, shown, expires_at: expiresAt } of lists.decisions?.entries ?? [])
    if (state === "pending" && !closed.has(id)) put(id, { conversation, title: titles.get(conversation), ...kept(shown), expiresAt });
  return [...found.values()].toSorted((a, b) => a.id - b.id);
}

/** Rows of what was decided, the newest first. */
export function decidedRows(workspace) {
  const titles = titlesOf(workspace);
  const decided = (mainState(workspace).lists.decisions?.entries ?? []).filter(({ state }) => state !== "pending");
  return decided.map(({ id, conversation, state, shown, reason, channel, decided_at: decidedAt, created_at: createdAt }) => ({
    key: `${id}:${state}`,
    id,
    conversation,
    title: titles.get(conversation),
    state,
    reason,
    channel,
    decidedAt,
    createdAt,
    ...kept(shown),
  }));
}

/** A text that is another one when something waits or was decided. */
export function approvalsMark(workspace) {
  const marks = [...workspace.states.values()].flatMap((state) =>
    [...state.items.values()].filter(({ kind }) => kind === "approval").map(({ id, decision }) => `${id}${decision?.state ?? ""}`),
  );
  return `${marks.join()} ${mainState(workspace).elsewhere.ids.join()}`;
}

function titlesOf(workspace) {
  const listed = mainState(workspace).lists.conversations?.entries?.conversations ?? [];
  return new Map(listed.map(({ id, title }) => [id, title]));
}

/** An approval of the list, in the form of a frame; the same object each time, so that a row is known to be the same. */
const read = new WeakMap();
function kept(shown) {
  if (!shown) return {};
  if (!read.has(shown)) read.set(shown, shownOf(shown));
  return { shown: read.get(shown) };
}
