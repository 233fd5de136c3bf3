// All that the page knows, as one pure function: (state, action) → state. Touches no DOM.
//
// An action is a frame of the server (`docs/protocol.md`) or one of the page's own, whose types
// start with `@`. Recorded frames may come twice (after a reconnect) or late (after "show
// earlier"), so each is applied by its key and its `seq`, never by the order of arrival. So the
// page shows the same after a reload.

import {
  approvalChanged,
  callClassified,
  callUndone,
  capabilityChanged,
  deciding,
  NOTHING_ELSEWHERE,
  operationChanged,
  undecided,
  waitingElsewhere,
  waitingListed,
} from "./state-law.js";
import { hasEnded, inOneGo, isFinal, mapValues, openTurns, putItem, resultTold, withEntry, withTurn } from "./state-parts.js";
import { modelSeen, steered, steeringShown, textRecorded, textWritten } from "./state-said.js";
import { taskChanged, tasksListed } from "./state-tasks.js";
import { TODO_HANDLERS } from "./state-todo.js";

/** The state before anything is known. */
export function initialState() {
  return {
    connection: { status: "connecting", failures: 0, retryAt: null },
    hello: null,
    /** The conversation of frames that came before `hello`. */
    early: undefined,
    /** The lowest `seq` that was asked for, less one; above 0 there is more history to load. */
    historyAfter: null,
    /** The place in another conversation at which this one, a branch, goes on: { conversation, seq }. */
    from: undefined,
    lastSeq: 0,
    /** Frames with a higher `seq` were seen as they happened; text written before that may lack its beginning. */
    since: 0,
    /** key → item; an item stands for one recorded frame, see `item` below. */
    items: new Map(),
    /** Messages that were said into a turn which ended without having seen them, and are turns of their own now. */
    moved: new Set(),
    /** turn → what woke it, in a sentence for a person */
    fired: new Map(),
    /** `turn:step` → text that is being written and is not recorded. */
    streams: new Map(),
    /** turn → { state, seq, order, origin, stopping } */
    turns: new Map(),
    tasks: new Map(),
    /** name → { name, version, enabled, seq } */
    capabilities: new Map(),
    /** tool call → its operations, in order: { ordinal, power, request, state, seq } */
    operations: new Map(),
    /** tool call → what a second model said of it */
    classified: new Map(),
    /** tool call → how many rows of what it had deleted or overwritten were put back */
    undone: new Map(),
    /** Lists that were asked for: kind → { entries, error }. Never a secret's value. */
    lists: {},
    /** Approvals that wait in other conversations: their ids, what is known of each, and the decisions under way. */
    elsewhere: NOTHING_ELSEWHERE,
    /** How often lists changed in conversations that are not followed here: list → number. */
    changedLists: {},
    /** Messages without an acknowledgement: { id, content, status: "sending" | "refused", error }. */
    outbox: [],
    /** True if the model failed the newest turn that says so; beside it that frame's `seq`. */
    model: { seq: 0, fails: false },
    /** Errors that belong to no turn and are recorded nowhere: { key, content }. One with a key of its own takes the place of the last with it. */
    notices: [],
    noticeCount: 0,
  };
}

/** True while a turn is queued, running or waiting for a person. */
export function isBusy(state) {
  return openTurns(state.turns).length > 0;
}

/** The state after `action`. Unknown types change nothing, so a newer server can say more. */
export function reduce(state, action) {
  const apply = Object.hasOwn(HANDLERS, action.type) ? HANDLERS[action.type] : undefined;
  if (!apply) return state;
  if (
    action.conversation !== undefined &&
    action.type !== "hello" &&
    state.hello &&
    action.conversation !== state.hello.conversation
  ) {
    return state;
  }
  const next = apply(state, action);
  return action.seq > next.lastSeq ? { ...next, lastSeq: action.seq } : next;
}

const HANDLERS = {
  "@connection": (state, { status, failures, retryAt }) => connectionChanged(state, { status, failures, retryAt }),
  "@history": (state, action) => historyLoaded(state, action),
  "@frames": (state, { frames, early }) => inOneGo(() => frames.reduce(reduce, early ? { ...state, early } : state)),
  "@outbox": (state, { entries }) => ({ ...state, outbox: entries }),
  "@dismiss": (state, { key }) => (state.notices.some((notice) => notice.key === key) ? { ...state, notices: state.notices.filter((notice) => notice.key !== key) } : state),
  "@stopping": (state) => stopping(state),
  "@deciding": (state, { approval, decision }) => deciding(state, approval, decision),
  "@list": (state, { kind, entries, error }) =>
    kind === "approvals"
      ? waitingListed(state, entries ?? [])
      : kind === "tasks"
        ? listed(tasksListed(state, entries), kind, entries, error)
        : listed(state, kind, entries, error),
  hello: (state, frame) => greeted(state, frame),
  turn: (state, frame) => turnChanged(state, frame),
  shown: (state, frame) => steeringShown(state, frame),
  delta: (state, frame) => textWritten(state, frame),
  assistant: (state, frame) => textRecorded(state, frame),
  tool_call: (state, frame) => callProposed(state, frame),
  tool_result: (state, frame) => callEnded(state, frame),
  error: (state, frame) => failed(state, frame),
  task: (state, frame) => taskChanged(state, frame),
  fired: (state, frame) => ({ ...state, fired: new Map(state.fired).set(frame.turn, frame.content) }),
  held: (state, frame) => putItem(state, frame, `held:${frame.seq}`, { kind: "held", content: frame.content }),
  capability: (state, frame) => capabilityChanged(state, frame),
  approval: (state, frame) => approvalChanged(state, frame),
  waiting: (state, frame) => waitingElsewhere(state, frame),
  changed: (state, frame) => listChanged(state, frame),
  classified: (state, frame) => callClassified(state, frame),
  operation: (state, frame) => operationChanged(state, frame),
  undone: (state, frame) => callUndone(state, frame),
  ...TODO_HANDLERS,
};

function connectionChanged(state, connection) {
  const lost = state.connection.status === "connected" && connection.status !== "connected";
  // Text written while the line is down never arrives; the text says so and closes no gap silently.
  const streams = lost ? mapValues(state.streams, (stream) => ({ ...stream, gap: true })) : state.streams;
  const next = { ...state, connection, streams };
  return lost ? undecided(next) : next;
}

function greeted(state, hello) {
  const known = state.hello?.conversation ?? state.early;
  const other = known && (known !== hello.conversation || hello.last_seq < state.lastSeq);
  // Approvals elsewhere are told anew on each connection, and nothing if none wait.
  if (!other) return { ...state, hello, since: hello.last_seq, elsewhere: NOTHING_ELSEWHERE };
  // The server has another past than the one shown here, for example a fresh database.
  return { ...initialState(), connection: state.connection, outbox: state.outbox, hello };
}

function historyLoaded(state, { after, from }) {
  const isFirst = state.historyAfter === null;
  return {
    ...state,
    historyAfter: isFirst ? after : Math.min(after, state.historyAfter),
    from: from ?? state.from,
    since: isFirst ? Math.max(state.lastSeq, state.hello?.last_seq ?? 0) : state.since,
  };
}

function turnChanged(state, frame) {
  let next = state;
  if (frame.state === "queued" || frame.message !== undefined) {
    next = frame.message === undefined ? queued(next, frame) : steered(next, frame);
    if (frame.id !== undefined) next = { ...next, outbox: next.outbox.filter((entry) => entry.id !== frame.id) };
  } else if (isFinal(frame.state) && (frame.state !== "completed" || frame.reason)) {
    next = putItem(next, frame, `end:${frame.turn}`, { kind: "end", state: frame.state, content: frame.reason ?? "" });
  }
  return withTurn(next, frame, frame.state);
}

const NONE = [];

function queued(state, frame) {
  if (frame.moved !== undefined) {
    const items = new Map(state.items);
    items.delete(`steered:${frame.moved}`);
    state = { ...state, items, moved: new Set(state.moved).add(frame.moved) };
  }
  const { id: clientId, images = NONE } = frame;
  const said = { kind: frame.origin === "task" ? "due" : "user", content: frame.content ?? "", clientId, images };
  if (frame.origin !== undefined) return putItem(state, frame, `turn:${frame.turn}`, said);
  // Without an origin the turn waited, and goes on. A message that decided it shows, a button not.
  return frame.content === undefined ? state : putItem(state, frame, `decided:${frame.seq}`, said);
}

function callProposed(state, frame) {
  const { name, arguments: args } = frame;
  return withTurn(putItem(state, frame, `call:${frame.call}`, { kind: "tool", name, args, called: true }), frame);
}

function callEnded(state, frame) {
  const key = `call:${frame.call}`;
  const { result, logs = NONE, kept = 0 } = frame;
  const outcome = { ok: frame.ok !== false, result, logs, kept, ...resultTold(frame) };
  const known = state.items.get(key);
  if (known?.outcome) return state;
  const item = { kind: "tool", name: frame.name, ...known, outcome };
  // The card stays where the call was; if the call is further back than what is loaded, here.
  const next = known ? { ...state, items: withEntry(state.items, key, item) } : putItem(state, frame, key, item);
  return withTurn(next, frame);
}

function failed(state, frame) {
  if (frame.turn !== undefined) {
    if (frame.failure === "model") state = modelSeen(state, frame, true);
    return withTurn(
      putItem(state, frame, `end:${frame.turn}`, { kind: "error", content: frame.content }),
      frame,
      "failed",
    );
  }
  if (frame.id !== undefined && state.outbox.some((entry) => entry.id === frame.id)) {
    const refuse = (entry) => (entry.id === frame.id ? { ...entry, status: "refused", error: frame.content, ...(frame.upgrade && { upgrade: true }) } : entry);
    return { ...state, outbox: state.outbox.map(refuse) };
  }
  // A refused decision names no approval, so all that are under way may be tried again.
  state = undecided(state);
  if (state.notices.at(-1)?.content === frame.content) return state;
  const noticeCount = state.noticeCount + 1;
  return {
    ...state,
    noticeCount,
    notices: [...state.notices.filter(({ key }) => key !== frame.key), { key: frame.key ?? `notice:${noticeCount}`, content: frame.content }],
  };
}

/** The server's answer to what the panel asked for; with an `error` the entries known before stay. */
function listed(state, kind, entries, error) {
  const known = state.lists[kind];
  return { ...state, lists: { ...state.lists, [kind]: { entries: entries ?? known?.entries, error } } };
}

/** Something happened elsewhere that no frame here tells of; the list is asked for again. */
function listChanged(state, { list }) {
  return { ...state, changedLists: { ...state.changedLists, [list]: (state.changedLists[list] ?? 0) + 1 } };
}

function stopping(state) {
  return { ...state, turns: mapValues(state.turns, (turn) => (hasEnded(turn) ? turn : { ...turn, stopping: true })) };
}
