// What the page knows, as one pure function: (state, action) → state. Imports nothing and touches no DOM.
//
// An action is a frame of the server (`docs/protocol.md`) or one of the page's own, whose types start with `@`.
// Recorded frames may come twice (after a reconnect) or late (after "show earlier"), so each is applied by its key and its
// `seq`, never by the order of arrival. What the page shows is therefore the same after a reload.

const ENDED = new Set(["completed", "aborted", "failed"]);

/** The state before anything is known. */
export function initialState() {
  return {
    connection: { status: "connecting", failures: 0, retryAt: null },
    hello: null,
    /** The lowest `seq` that was asked for, less one; above 0 there is more history to load. */
    historyAfter: null,
    lastSeq: 0,
    /** key → item; an item stands for one recorded frame, see `item` below. */
    items: new Map(),
    /** `turn:step` → text that is being written and is not recorded. */
    streams: new Map(),
    /** turn → { state, seq, order, origin, stopping } */
    turns: new Map(),
    tasks: new Map(),
    capabilities: new Map(),
    /** Messages without an acknowledgement: { id, content, status: "sending" | "refused", error }. */
    outbox: [],
    /** Whether the model failed the newest turn that says so, and that frame's `seq`. */
    model: { seq: 0, fails: false },
    /** Errors that belong to no turn and are recorded nowhere: { key, content }. */
    notices: [],
    noticeCount: 0,
  };
}

/** True while a turn is queued or running. */
export function isBusy(state) {
  for (const turn of state.turns.values()) if (!ENDED.has(turn.state)) return true;
  return false;
}

/** True when the turn is over. */
export function hasEnded(turn) {
  return turn !== undefined && ENDED.has(turn.state);
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
  "@history": (state, { after }) => ({ ...state, historyAfter: Math.min(after, state.historyAfter ?? after) }),
  "@outbox": (state, { entries }) => ({ ...state, outbox: entries }),
  "@dismiss": (state, { key }) => ({ ...state, notices: state.notices.filter((notice) => notice.key !== key) }),
  "@stopping": (state) => stopping(state),
  hello: (state, frame) => greeted(state, frame),
  turn: (state, frame) => turnChanged(state, frame),
  delta: (state, frame) => textWritten(state, frame),
  assistant: (state, frame) => textRecorded(state, frame),
  tool_call: (state, frame) => callProposed(state, frame),
  tool_result: (state, frame) => callEnded(state, frame),
  error: (state, frame) => failed(state, frame),
  task: (state, frame) => taskChanged(state, frame),
  capability: (state, frame) => capabilityLive(state, frame),
};

function connectionChanged(state, connection) {
  const lost = state.connection.status === "connected" && connection.status !== "connected";
  // What is written while the line is down never arrives; the text says so instead of closing the gap silently.
  const streams = lost ? mapValues(state.streams, (stream) => ({ ...stream, gap: true })) : state.streams;
  return { ...state, connection, streams };
}

function greeted(state, hello) {
  const other = state.hello && (state.hello.conversation !== hello.conversation || hello.last_seq < state.lastSeq);
  if (!other) return { ...state, hello };
  // The server has another past than the one shown here, for example a fresh database.
  return { ...initialState(), connection: state.connection, outbox: state.outbox, hello };
}

function turnChanged(state, frame) {
  let next = state;
  if (frame.state === "queued") {
    next = putItem(next, frame, `turn:${frame.turn}`, {
      kind: frame.origin === "task" ? "due" : "user",
      content: frame.content ?? "",
      clientId: frame.id,
    });
    if (frame.id !== undefined) next = { ...next, outbox: next.outbox.filter((entry) => entry.id !== frame.id) };
  } else if (ENDED.has(frame.state) && (frame.state !== "completed" || frame.reason)) {
    next = putItem(next, frame, `end:${frame.turn}`, { kind: "end", state: frame.state, content: frame.reason ?? "" });
  }
  return withTurn(next, frame, frame.state);
}

/** Notes a turn's new state, unless something later about it is known already. */
function withTurn(state, frame, turnState) {
  const known = state.turns.get(frame.turn);
  const order = Math.min(frame.seq ?? Infinity, known?.order ?? Infinity);
  const turn = { ...known, order };
  if (turnState !== undefined && !(known?.seq > frame.seq)) {
    turn.state = turnState;
    turn.seq = frame.seq;
  }
  if (turn.state === undefined) turn.state = "running";
  const next = { ...state, turns: new Map(state.turns).set(frame.turn, turn) };
  return hasEnded(turn) ? endStreams(next, frame.turn, turn.state) : next;
}

function endStreams(state, turn, turnState) {
  let streams = state.streams;
  for (const [key, stream] of state.streams) {
    if (stream.turn !== turn || stream.ended) continue;
    streams = streams === state.streams ? new Map(streams) : streams;
    // A completed turn recorded all it said. Text of one that was cut off stays in sight, marked as not kept.
    if (turnState === "completed" || stream.text.trim() === "") streams.delete(key);
    else streams.set(key, { ...stream, ended: true });
  }
  return streams === state.streams ? state : { ...state, streams };
}

function textWritten(state, frame) {
  const turn = state.turns.get(frame.turn);
  if (hasEnded(turn)) return state;
  const key = `${frame.turn}:${frame.step}`;
  const known = state.streams.get(key);
  if (known && (known.recorded || known.attempt > frame.attempt)) return state;
  const fresh = !known || known.attempt < frame.attempt;
  const text = fresh ? frame.content : known.text + (known.gap ? " … " : "") + frame.content;
  const stream = {
    turn: frame.turn,
    step: frame.step,
    attempt: frame.attempt,
    at: known?.at ?? state.lastSeq + 0.5,
    text,
  };
  return { ...state, streams: new Map(state.streams).set(key, stream) };
}

function textRecorded(state, frame) {
  const item = { kind: "assistant", content: frame.content, final: frame.final === true };
  const key = `assistant:${frame.turn}:${frame.step}`;
  const streamKey = `${frame.turn}:${frame.step}`;
  const stream = state.streams.get(streamKey);
  if (stream && !stream.recorded && !state.items.has(key)) {
    const streams = new Map(state.streams).set(streamKey, { ...stream, text: "", recorded: true });
    state = { ...state, streams };
    item.streamKey = streamKey;
  }
  return withTurn(modelSeen(putItem(state, frame, key, item), frame, false), frame);
}

function modelSeen(state, frame, fails) {
  return frame.seq > state.model.seq ? { ...state, model: { seq: frame.seq, fails } } : state;
}

function callProposed(state, frame) {
  const { name, arguments: args } = frame;
  return withTurn(putItem(state, frame, `call:${frame.call}`, { kind: "tool", name, args, called: true }), frame);
}

function callEnded(state, frame) {
  const key = `call:${frame.call}`;
  const outcome = { ok: frame.ok !== false, result: frame.result, logs: frame.logs ?? [] };
  const known = state.items.get(key);
  if (known?.outcome) return state;
  const item = { kind: "tool", name: frame.name, ...known, outcome };
  // The card stays where the call was; without the call (it is further back than what was loaded) it stands here.
  const next = known ? { ...state, items: new Map(state.items).set(key, item) } : putItem(state, frame, key, item);
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
    const refuse = (entry) => (entry.id === frame.id ? { ...entry, status: "refused", error: frame.content } : entry);
    return { ...state, outbox: state.outbox.map(refuse) };
  }
  if (state.notices.at(-1)?.content === frame.content) return state;
  const noticeCount = state.noticeCount + 1;
  return {
    ...state,
    noticeCount,
    notices: [...state.notices, { key: `notice:${noticeCount}`, content: frame.content }],
  };
}

function taskChanged(state, frame) {
  const known = state.tasks.get(frame.task.id);
  if (known?.seq >= frame.seq) return state;
  const task = { ...frame.task, seq: frame.seq, deleted: frame.deleted === true };
  return { ...state, tasks: new Map(state.tasks).set(task.id, task) };
}

function capabilityLive(state, frame) {
  const { name, version } = frame;
  const next = putItem(state, frame, `capability:${name}:${version}`, { kind: "capability", name, version });
  if ((state.capabilities.get(name)?.version ?? 0) >= version) return next;
  return { ...next, capabilities: new Map(state.capabilities).set(name, { name, version }) };
}

function stopping(state) {
  return { ...state, turns: mapValues(state.turns, (turn) => (hasEnded(turn) ? turn : { ...turn, stopping: true })) };
}

/** Adds an item under `key`; the same frame again leaves what is there. Fields that came earlier (an outcome) are kept. */
function putItem(state, frame, key, fields) {
  const known = state.items.get(key);
  if (known && (known.kind !== "tool" || known.called)) return state;
  const item = { key, at: frame.seq ?? state.lastSeq + 0.5, turn: frame.turn, ...fields };
  if (known?.outcome) item.outcome = known.outcome;
  return { ...state, items: new Map(state.items).set(key, item) };
}

function mapValues(map, change) {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
