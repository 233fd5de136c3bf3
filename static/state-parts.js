// The pieces the reducers are made of: turns, and items that stand for one recorded frame. Pure; touches no DOM.

const ENDED = new Set(["completed", "aborted", "failed"]);

/** True for the name of a state that a turn does not leave. */
export function isFinal(turnState) {
  return ENDED.has(turnState);
}

/** True when the turn is over. */
export function hasEnded(turn) {
  return turn !== undefined && ENDED.has(turn.state);
}

/** Notes a turn's new state, unless something later about it is known already. */
export function withTurn(state, frame, turnState) {
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

/** Adds an item under `key`; the same frame again leaves what is there. Fields that came earlier (an outcome) are kept. */
export function putItem(state, frame, key, fields) {
  const known = state.items.get(key);
  if (known && (known.kind !== "tool" || known.called)) return state;
  const item = { key, at: frame.seq ?? state.lastSeq + 0.5, turn: frame.turn, ...fields };
  if (known?.outcome) item.outcome = known.outcome;
  return { ...state, items: new Map(state.items).set(key, item) };
}

/** The map with every value changed. */
export function mapValues(map, change) {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
