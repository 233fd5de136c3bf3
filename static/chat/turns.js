// The rows of the message list as a person reads them: the steps of a turn are one row, and each
// turn that is over has a foot. Pure.

import { sameFields } from "../core/dom.js";
import { hasEnded } from "../core/state-parts.js";
import { placed, withLoose } from "./view.js";

/** The rows for the message list. `retried`: turn → the conversation in which it was tried again. */
export function turnRows(state, retried = NONE) {
  const { groups, rest, live } = placed(state);
  const list = [...settledRows(state, groups, rest, retried), ...rowsOf(state, live, retried)];
  if (state.from && state.historyAfter === 0) list.unshift({ key: "branched", kind: "branched", conversation: state.from.conversation });
  return withLoose(state, list);
}

const NONE = {};

/** groups → the rows of those before `rest`. */
const settled = new WeakMap();

/** While text comes in, nothing above it changes: those rows are not even looked at. */
function settledRows(state, groups, rest, retried) {
  const known = settled.get(groups);
  if (known?.rest === rest && known.retried === retried) return known.rows;
  const rows = rowsOf(state, groups.slice(0, rest), retried);
  settled.set(groups, { rest, retried, rows });
  return rows;
}

function rowsOf(state, groups, retried) {
  const list = [];
  for (const { entries } of groups) list.push(...groupRows(state, entries, retried));
  return list;
}

const made = new WeakMap();

/** The rows of one group: those of the last time if nothing in it has changed. */
function groupRows(state, entries, retried) {
  const turnId = entries.find(({ turn }) => turn !== undefined)?.turn;
  const turn = state.turns.get(turnId);
  const known = turn && made.get(turn);
  const again = retried[turnId];
  if (known && known.again === again && isSame(known.entries, entries)) return known.rows;
  const rows = newRows(turn, turnId, entries, retried);
  if (turn) made.set(turn, { entries, again, rows });
  return rows;
}

const isSame = (a, b) => a === b || (a.length === b.length && a.every(({ row }, index) => row === b[index].row));

/** A turn, with what happened meanwhile and belongs to none. */
function newRows(turn, turnId, entries, retried) {
  const written = new Set(entries.map(({ row }) => row).filter(isWritten).map(({ args }) => args.name));
  const rows = [];
  let steps;
  const message = messageOf(turn, entries);
  const given = turn?.origin === "command" ? entries.flatMap(({ row }) => [row.outcome?.result, row.outcome?.said]) : [];
  entries.forEach(({ row }, index) => {
    // The last words of an order are those of its step; those of old ones are what a model reads of
    // the call.
    if (row.kind === "assistant" && given.includes(row.content)) return;
    // An answer that a person stopped says so itself.
    if (row.kind === "end" && row.state === "aborted" && entries.some((entry) => entry.row.stopped)) return;
    // A capability that this turn wrote is told of by its step.
    if (row.kind === "capability" && row.enabled && written.has(row.name)) return;
    if (isStep(entries, index)) {
      if (!steps) rows.push((steps = { key: `steps:${row.key}`, kind: "steps", steps: [], live: false }));
      steps.steps.push(row);
      return;
    }
    // A message of a person, and an answer that stands, end a run of steps: below it others begin.
    if (row.kind === "user" || (row.kind === "assistant" && !row.streaming)) steps = undefined;
    rows.push(shownRow(row, { turn, turnId, retried, message }));
  });
  const last = rows.findLast(({ kind }) => kind === "steps");
  const answered = rows.slice(rows.indexOf(last) + 1).some(({ kind }) => kind === "assistant");
  for (const each of rows) if (each.kind === "steps") settle(each, turn, each === last && !answered);
  const foot = footOf(turn, turnId, { rows, retried, message });
  return foot ? [...rows, foot] : rows;
}

const isWritten = (row) => row.kind === "tool" && row.name === "write_capability" && row.state === "ok" && row.args;

/** True for a call, and for text beside calls: said before one, or taken back. */
function isStep(entries, index) {
  const { row, turn } = entries[index];
  if (row.kind === "tool") return true;
  if (row.kind !== "assistant" || row.final || row.streaming || row.partial || row.stopped) return false;
  if (row.unproven) return true;
  const next = entries.slice(index + 1).find((other) => other.turn === turn && other.row.kind !== "approval");
  return next?.row.kind === "tool";
}

/** The row of the message that began the turn, which can be sent again. Orders, words that decided and words said into a turn are none. */
function messageOf(turn, entries) {
  return turn?.origin === "message" ? entries.find(({ at, row }) => at === turn.order && row.kind === "user")?.row : undefined;
}

/** A message can be edited once its turn is over; an answer that was tried again elsewhere says so. */
function shownRow(row, { turn, turnId, retried, message }) {
  if (row === message && hasEnded(turn)) return { ...row, editAt: turn.order - 1 };
  if (row.kind === "assistant" && row.final && retried[turnId]) return { ...row, retried: retried[turnId] };
  return row;
}

/** How a step came out: `ok`, `mended`, `failed`, `unknown`, `denied`, `lost`, `waiting`, `running` or `said`. */
export function outcomeOf(row, { ended, turnFailed = false } = {}) {
  if (row.kind === "assistant") return "said";
  if (row.outcome?.uncertain || row.operations?.some(({ state }) => state === "unknown")) return "unknown";
  if (row.outcome?.refusal === "denied" || row.outcome?.refusal === "expired") return "denied";
  if (row.lost) return "lost";
  if (row.state !== "failed") return row.state;
  // A failure that did not end the turn was dealt with in it.
  return ended && turnFailed ? "failed" : "mended";
}

/** Gives a run of steps its outcomes; the array is the one of the last time if nothing in it changed, so that its element rests. */
function settle(row, turn, isLast) {
  const ended = hasEnded(turn);
  const lastCall = row.steps.findLast(({ kind }) => kind === "tool");
  // No answer follows it: this call is what the turn ended with.
  const fatal = isLast && ended && (turn.state === "failed" || turn.origin === "command");
  const steps = row.steps.map((step) => ({
    ...step,
    came: outcomeOf(step, { ended, turnFailed: fatal && step === lastCall }),
  }));
  row.live = !ended && isLast;
  row.steps = sameAsBefore(row.steps[0], steps);
}

const before = new WeakMap();
const anchors = new Map();
const MOST_ANCHORS = 5000;

/** An equal array of an earlier call, if there is one. It is found by the arguments of its first call, which stay the same object. */
function sameAsBefore(first, steps) {
  const anchor = anchorOf(first);
  const known = before.get(anchor);
  if (known?.length === steps.length && known.every((step, index) => sameFields(step, steps[index]))) return known;
  before.set(anchor, steps);
  return steps;
}

function anchorOf({ args, outcome, key, content }) {
  if (args !== null && typeof args === "object") return args;
  if (outcome) return outcome;
  const name = `${key}:${content ?? ""}`;
  if (anchors.size > MOST_ANCHORS) anchors.clear();
  if (!anchors.has(name)) anchors.set(name, {});
  return anchors.get(name);
}

/** The foot of a turn that is over: when, how long, what it cost, and what can be done with it. */
function footOf(turn, turnId, { rows, retried, message }) {
  if (turnId === undefined || !hasEnded(turn)) return undefined;
  const answers = rows.filter((row) => row.kind === "assistant" && !row.partial);
  const { requests, input_tokens: input, output_tokens: output, cost_micros: cost } = turn.usage ?? {};
  return {
    key: `foot:${turnId}`,
    kind: "foot",
    turn: turnId,
    at: turn.endedAt,
    ms: turn.ms,
    requests,
    input,
    output,
    cost,
    answer: answers.map(({ content }) => content).join("\n\n"),
    said: message?.content,
    images: message?.images?.length > 0 ? message.images : undefined,
    // A branch at the turn's own first frame is a retry of it, see `retried.js`; a model is shown
    // what had ended before.
    retryAt: message ? turn.order : undefined,
    branchAt: turn.endSeq,
    retried: retried[turnId],
  };
}
