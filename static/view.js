// What is shown, computed from the state: rows of the message list and entries of the side panel. Pure, like the reducer.

import { waiting } from "./state-law.js";
import { hasEnded } from "./state-parts.js";

/**
 * The rows of the message list, in order. Rows are flat objects; two rows that are equal field by field look the same.
 * Everything of a turn stands together, turns stand in the order they were accepted, unsent messages come last.
 */
export function rows(state) {
  const placed = [...placeItems(state), ...placeStreams(state)];
  const active = activeTurn(state);
  if (active && !isShowingWork(state, active.id)) {
    const stopping = active.turn.stopping === true;
    placed.push({
      group: active.turn.order,
      at: Infinity,
      row: { key: `working:${active.id}`, kind: "working", stopping },
    });
  }
  placed.sort((a, b) => a.group - b.group || a.at - b.at);
  const list = placed.map(({ row }) => row);
  const used = new Set(list.map((row) => row.key));
  for (const { id, content, status, error, steer, images = NONE } of state.outbox) {
    const key = `said:${id}`;
    if (!used.has(key)) list.push({ key, kind: "user", content, status, error, id, images, steered: steer === true });
  }
  list.unshift(...elsewhereRows(state));
  for (const { key, content } of state.notices) list.push({ key, kind: "notice", content });
  return list;
}

const NONE = [];

/** The first turn that is not over: the one that runs, or is next to run. */
function activeTurn(state) {
  let first;
  for (const [id, turn] of state.turns) {
    if (!hasEnded(turn) && (!first || turn.order < first.turn.order)) first = { id, turn };
  }
  return first;
}

function isShowingWork(state, turn) {
  for (const stream of state.streams.values()) if (stream.turn === turn && stream.text.trim() !== "") return true;
  for (const item of state.items.values()) if (item.turn === turn && item.kind === "tool" && !item.outcome) return true;
  return waiting(state).some((item) => item.turn === turn);
}

function placeItems(state) {
  // What was said into a turn and is known only by having been shown lies further back than what was loaded.
  const loaded = [...state.items.values()].filter((item) => !item.steered || item.content !== undefined);
  const items = loaded.sort((a, b) => a.at - b.at);
  const context = { state, active: activeTurn(state), waits: new Set(waiting(state).map((item) => item.call)) };
  const keys = new Set();
  let group;
  return items.map((item) => {
    const turn = state.turns.get(item.turn);
    // What belongs to no turn stands with the turn that was at work when it happened.
    const own = item.turn === undefined ? (group ?? item.at) : (turn?.order ?? item.at);
    if (item.kind !== "user" && item.kind !== "due") group = own;
    const row = rowOf(item, turn, context);
    if (keys.has(row.key)) row.key = item.key;
    keys.add(row.key);
    return { group: own, at: placeOf(item, state), row };
  });
}

/**
 * An approval stands below the call it is about, also when other calls of the same step came in between. What was said into a turn
 * stands where the model was shown it; until then behind everything, and before the end of a turn that ended first.
 */
function placeOf(item, state) {
  if (item.steered) {
    const end = state.items.get(`end:${item.turn}`);
    return item.shownAt ?? (end ? end.at - 0.25 : Number.MAX_SAFE_INTEGER);
  }
  if (item.kind !== "approval") return item.at;
  const call = state.items.get(`call:${item.call}`);
  return call ? call.at + 0.25 : item.at;
}

function rowOf(item, turn, context) {
  const { state, active } = context;
  const { key, kind } = item;
  switch (kind) {
    case "user": {
      const waits = turn?.state === "queued" && active !== undefined && active.turn !== turn;
      const unseen = item.steered === true && item.shownAt === undefined;
      const status = unseen ? (hasEnded(turn) ? "unseen" : "steering") : waits ? "queued" : undefined;
      const steered = item.steered === true;
      const { content, images } = item;
      return { key: item.clientId ? `said:${item.clientId}` : key, kind, content, status, images, steered };
    }
    case "assistant": {
      const textKey = item.streamKey ? `text:${item.streamKey}` : key;
      const { content, final, unproven, stopped } = item;
      return { key: textKey, kind, content, final, unproven, streaming: false, partial: false, stopped };
    }
    case "tool":
      return toolRow(item, turn, context);
    case "approval":
      return approvalRow(item, turn, state);
    case "end":
      return { key, kind, state: item.state, content: item.content };
    case "capability":
      return { key, kind, name: item.name, version: item.version, enabled: item.enabled };
    default:
      return { key, kind, content: item.content };
  }
}

function toolRow({ key, name, args, outcome, called }, turn, { state, waits }) {
  const lost = outcome === undefined && hasEnded(turn);
  const call = Number(key.slice("call:".length));
  const open = lost ? "failed" : waits.has(call) ? "waiting" : "running";
  return {
    key,
    kind: "tool",
    name,
    args,
    outcome,
    state: outcome ? (outcome.ok ? "ok" : "failed") : open,
    lost,
    called: called === true,
    operations: state.operations.get(call),
    classified: state.classified.get(call),
    call,
    kept: outcome?.kept ?? 0,
    undone: state.undone.get(call),
  };
}

function approvalRow({ key, id, shown, expiresAt, decision, sending }, turn, state) {
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

/** What waits in other conversations stands above everything: it belongs to no place here, and what is said goes on below it. */
function elsewhereRows(state) {
  const { known, sending } = state.elsewhere;
  return [...known.values()].map(({ id, conversation, shown, expiresAt }) => ({
    key: `elsewhere:${id}`,
    kind: "approval",
    id,
    conversation,
    shown,
    expiresAt,
    state: "pending",
    sending: sending.get(id),
    connected: state.connection.status === "connected",
  }));
}

function placeStreams(state) {
  const placed = [];
  for (const [key, stream] of state.streams) {
    if (stream.text.trim() === "") continue;
    const row = {
      key: `text:${key}`,
      kind: "assistant",
      content: stream.text,
      final: false,
      unproven: false,
      streaming: !stream.ended,
      partial: stream.ended === true,
      stopped: false,
    };
    placed.push({ group: state.turns.get(stream.turn)?.order ?? stream.at, at: stream.at, row });
  }
  return placed;
}

/** Tasks for the side panel: open ones by due time, then those without, and how many are closed. */
export function taskLists(state) {
  const all = [...state.tasks.values()].filter((task) => !task.deleted);
  const open = all.filter((task) => task.status === "pending" || task.status === "in_progress");
  const due = (task) => (task.due_at ? Date.parse(task.due_at) : Infinity);
  open.sort((a, b) => (due(a) === due(b) ? a.id - b.id : due(a) - due(b)));
  const closed = all.filter((task) => !open.includes(task)).sort((a, b) => b.seq - a.seq);
  return { open, closed };
}

/** Capabilities by name: what the server listed, or what frames said while there is no list. */
export function capabilityList(state) {
  const heard = [...state.capabilities.values()].map(({ name, version, enabled }) => ({ name, version, enabled }));
  return (state.lists.capabilities?.entries ?? heard).toSorted((a, b) => a.name.localeCompare(b.name));
}
