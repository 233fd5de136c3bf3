// The view, computed from the state: rows of the message list and entries of the side panel. Pure,
// like the reducer.

import { waiting } from "../core/state-law.js";
import { openTurns } from "../core/state-parts.js";
import { noticeOf } from "../core/state-todo.js";
import { isBehind, rowOf } from "./item-rows.js";

/**
 * The rows of the message list, in order. Rows are flat objects; two rows that are equal field by field look the same.
 * Everything of a turn stands together, turns stand in the order they were accepted, unsent messages come last.
 */
export function rows(state) {
  const { groups, rest, live } = placed(state);
  return withLoose(state, [...groups.slice(0, rest), ...live].flatMap(({ entries }) => entries.map(({ row }) => row)));
}

const inOrder = (a, b) => a.at - b.at;

/**
 * Everything recorded or written, turn by turn: `{ group, entries }`, each entry `{ at, turn, row }` in its place. Of `groups`, the recorded ones,
 * those before `rest` stand as they are; what follows is `live`, with what is written just now among it. While text comes in, `groups` is the
 * same array; a group in which nothing happened is the same object.
 */
export function placed(state) {
  const groups = placeItems(state);
  const written = placeStreams(state);
  const active = activeTurn(state);
  if (active && !isShowingWork(state, active.id)) {
    const stopping = active.turn.stopping === true;
    written.push({
      group: active.turn.order,
      at: Infinity,
      turn: active.id,
      row: { key: `working:${active.id}`, kind: "working", stopping, notice: noticeOf(active.turn) },
    });
  }
  let rest = groups.length;
  const from = Math.min(...written.map(({ group }) => group));
  while (rest > 0 && groups[rest - 1].group >= from) rest -= 1;
  return { groups, rest, live: withWritten(groups.slice(rest), written) };
}

/** The groups with what is written in them, or in one of its own. */
function withWritten(groups, written) {
  const all = [...new Set([...groups, ...written].map(({ group }) => group))].sort((a, b) => a - b);
  return all.map((group) => {
    const recorded = groups.find((each) => each.group === group);
    const own = written.filter((each) => each.group === group);
    return own.length === 0 ? recorded : { group, entries: [...(recorded?.entries ?? NONE), ...own].sort(inOrder) };
  });
}

/** The rows with what has no place among them: unsent messages, approvals of other conversations, notices. */
export function withLoose(state, list) {
  const used = new Set(state.outbox.length > 0 ? list.map((row) => row.key) : []);
  for (const { id, content, status, error, steer, images = NONE } of state.outbox) {
    const key = `said:${id}`;
    if (!used.has(key)) list.push({ key, kind: "user", content, status, error, id, images, steered: steer === true });
  }
  for (const { key, content } of state.notices) list.push({ key, kind: "notice", content });
  return list;
}

const NONE = [];

/** The first turn that is not over: the one that runs, or is next to run. */
const activeTurn = ({ turns }) => openTurns(turns)[0];

/** items → the turns in which a call has no outcome. */
const calling = new WeakMap();

function callingTurns({ items }) {
  const known = calling.get(items);
  if (known) return known;
  const found = new Set();
  for (const item of items.values()) if (item.kind === "tool" && !item.outcome) found.add(item.turn);
  calling.set(items, found);
  return found;
}

function isShowingWork(state, turn) {
  for (const stream of state.streams.values()) if (stream.turn === turn && isWritten(stream)) return true;
  return callingTurns(state).has(turn) || waiting(state).some((item) => item.turn === turn);
}

const isWritten = ({ text }) => /\S/.test(text);

/** items → their groups, and all that these were made from. */
const places = new WeakMap();

function placeItems(state) {
  const { items, turns, fired, operations, classified, undone, connection } = state;
  const from = [turns, fired, operations, classified, undone, connection.status];
  const known = places.get(items);
  if (known && isEqual(known.from, from)) return known.groups;
  const groups = newGroups(state);
  places.set(items, { from, groups });
  return groups;
}

const isEqual = (a, b) => a.length === b.length && a.every((part, index) => part === b[index]);

function newGroups(state) {
  const waits = waiting(state).map((item) => item.call);
  const { fired, operations, classified, undone, connection } = state;
  const marks = [fired, operations, classified, undone, connection.status, waits.join()];
  const { found, again } = itemsByGroup(state);
  const context = { state, active: activeTurn(state), waits: new Set(waits), again, marks };
  return [...found].sort(([a], [b]) => a - b).map(([group, items]) => groupOf(group, items, context));
}

/** The items of each group, in the order of their frames, and those that were recorded before under the same id of the page. */
function itemsByGroup({ items, turns }) {
  const sorted = [...items.values()];
  if (sorted.some((item, index) => item.at < sorted[index - 1]?.at)) sorted.sort(inOrder);
  const found = new Map();
  const ids = new Set();
  const again = new Set();
  let group;
  for (const item of sorted) {
    // A message that was said into a turn and is known only by having been shown lies further back
    // than what was loaded.
    if (item.steered && item.content === undefined) continue;
    // Everything that belongs to no turn stands with the turn that was at work when it happened.
    const own = item.turn === undefined ? (group ?? item.at) : (turns.get(item.turn)?.order ?? item.at);
    if (item.kind !== "user" && item.kind !== "due") group = own;
    if (ids.has(item.clientId)) again.add(item);
    else if (item.clientId !== undefined) ids.add(item.clientId);
    const there = found.get(own);
    if (there) there.push(item);
    else found.set(own, [item]);
  }
  return { found, again };
}

/** The first item of a group → the group, and what it was made from. */
const grouped = new WeakMap();

/** A group with its rows: the one of the last time if nothing in it has changed, so that a long conversation costs little. */
function groupOf(group, items, context) {
  const [first] = items;
  const turn = context.state.turns.get(first.turn);
  const { active, again, marks } = context;
  const from = [group, turn, isBehind(turn, active), again.size > 0 && items.some((item) => again.has(item)), ...marks];
  const known = grouped.get(first);
  if (known && isEqual(known.items, items) && isEqual(known.from, from)) return known.placed;
  const place = (item) => ({ group, at: placeOf(item, context.state), turn: item.turn, row: rowOf(item, context.state.turns.get(item.turn), context) });
  const placed = { group, entries: items.map(place).sort(inOrder) };
  grouped.set(first, { items, from, placed });
  return placed;
}

/**
 * An approval stands below the call it is about, also when other calls of the same step came in between. A message that was said
 * into a turn stands where the model was shown it; until then behind everything, and before the end of a turn that ended first.
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

function placeStreams(state) {
  const placed = [];
  for (const [key, stream] of state.streams) {
    if (!isWritten(stream)) continue;
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
    placed.push({ group: state.turns.get(stream.turn)?.order ?? stream.at, at: stream.at, turn: stream.turn, row });
  }
  return placed;
}
