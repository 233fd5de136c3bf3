// The pieces the reducers are made of: turns, and items that stand for one recorded frame. Pure;
// touches no DOM.

const ENDED = new Set(["completed", "aborted", "failed"]);

/** True for the name of a state that a turn does not leave. */
export function isFinal(turnState) {
  return ENDED.has(turnState);
}

/** True when the turn is over. */
export function hasEnded(turn) {
  return turn !== undefined && ENDED.has(turn.state);
}

/** The turns of a conversation → those of them that are not over. Many parts of the page ask this in each frame. */
const openOf = new WeakMap();

/** The turns that are not over, as `{ id, turn }`, in the order they were accepted. A map of turns is walked through once. */
export function openTurns(turns) {
  const known = openOf.get(turns);
  if (known) return known;
  const open = [];
  for (const [id, turn] of turns) if (!hasEnded(turn)) open.push({ id, turn });
  open.sort((a, b) => a.turn.order - b.turn.order);
  openOf.set(turns, open);
  return open;
}

/** The maps that were made since a page of frames began to be applied. */
let fresh;

/** Applies many frames with `work`. Maps that it makes are written into and not copied for each frame: nobody else has seen them. */
export function inOneGo(work) {
  fresh = new WeakSet();
  try {
    return work();
  } finally {
    fresh = undefined;
  }
}

/** The map with one more entry. */
export function withEntry(map, key, value) {
  const next = fresh?.has(map) ? map : new Map(map);
  fresh?.add(next);
  return next.set(key, value);
}

/** Notes a turn's new state, unless something later about it is known already. */
export function withTurn(state, frame, turnState) {
  const known = state.turns.get(frame.turn);
  const order = Math.min(frame.seq ?? Infinity, known?.order ?? Infinity);
  const turn = { ...known, order, told: Math.max(frame.seq ?? 0, known?.told ?? 0) };
  if (turnState !== undefined && !(known?.seq > frame.seq)) {
    turn.state = turnState;
    turn.seq = frame.seq;
  }
  if (turn.state === undefined) turn.state = "running";
  Object.assign(turn, turnTold(frame, turnState));
  const next = { ...state, turns: withEntry(state.turns, frame.turn, turn) };
  return hasEnded(turn) ? endStreams(next, frame.turn, turn.state) : next;
}

/** The facts of its turn that a frame tells beside the state: when it was accepted, and what it took when it ended. */
function turnTold(frame, turnState) {
  if (frame.origin !== undefined) return { acceptedAt: frame.at, origin: frame.origin };
  if (!isFinal(turnState)) return undefined;
  const { usage, ms, at: endedAt, seq: endSeq } = frame;
  return { usage, ms, endedAt, endSeq };
}

const TOLD = ["said", "ms", "version", "columns", "total", "fault", "uncertain", "refusal"];

/** The part of a `tool_result` that is for a person; what it does not say is left out. */
export function resultTold(frame) {
  return Object.fromEntries(TOLD.filter((name) => frame[name] !== undefined).map((name) => [name, frame[name]]));
}

function endStreams(state, turn, turnState) {
  let streams = state.streams;
  for (const [key, stream] of state.streams) {
    if (stream.turn !== turn || stream.ended) continue;
    streams = streams === state.streams ? new Map(streams) : streams;
    // A completed turn recorded all it said. Text of one that was cut off stays in sight, marked as
    // not kept.
    if (turnState === "completed" || stream.text.trim() === "") streams.delete(key);
    else streams.set(key, { ...stream, ended: true });
  }
  return streams === state.streams ? state : { ...state, streams };
}

/** Adds an item under `key`; the same frame again leaves what is there. Fields that came earlier (an outcome) are kept. */
export function putItem(state, frame, key, fields) {
  const known = state.items.get(key);
  if (known && (known.kind !== "tool" || known.called)) return state;
  const item = { key, at: frame.seq ?? state.lastSeq + 0.5, turn: frame.turn, ...fields };
  if (known?.outcome) item.outcome = known.outcome;
  return { ...state, items: withEntry(state.items, key, item) };
}

/** The map with every value changed. */
export function mapValues(map, change) {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
