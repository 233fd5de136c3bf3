// The words of a turn that runs: text that a model writes, and what a person says into it. Pure,
// part of the reducer.

import { hasEnded, putItem, withTurn } from "./state-parts.js";

const NONE = [];

/** Something was said into a turn. Its place is behind the step it came during, which the frame does not know yet. */
export function steered(state, frame) {
  if (state.moved.has(frame.message)) return state;
  const key = `steered:${frame.message}`;
  const known = state.items.get(key);
  if (known?.content !== undefined) return state;
  const { id: clientId, images = NONE } = frame;
  const said = { kind: "user", content: frame.content ?? "", clientId, images, steered: true };
  const item = { key, turn: frame.turn, ...said, at: frame.seq, shownAt: known?.shownAt };
  return { ...state, items: new Map(state.items).set(key, item) };
}

/** From this place on the model sees what was said into the turn. The two frames may come in either order. */
export function steeringShown(state, frame) {
  const items = new Map(state.items);
  for (const message of frame.messages ?? []) {
    const key = `steered:${message}`;
    if (state.moved.has(message)) continue;
    const known = items.get(key) ?? { key, turn: frame.turn, kind: "user", steered: true, at: frame.seq };
    items.set(key, { ...known, shownAt: frame.seq });
  }
  return withTurn({ ...state, items }, frame);
}

/** A piece of text that is being written. */
export function textWritten(state, frame) {
  const turn = state.turns.get(frame.turn);
  if (hasEnded(turn)) return state;
  const key = `${frame.turn}:${frame.step}`;
  const known = state.streams.get(key);
  if (known && (known.recorded || known.attempt > frame.attempt)) return state;
  const fresh = !known || known.attempt < frame.attempt;
  // Of a step that was under way when this page came, or came back, nobody says what was written
  // before.
  const midway = (!known || known.gap) && state.hello && turn?.told <= state.since;
  const text = fresh ? (midway ? "… " : "") + frame.content : known.text + (known.gap ? " … " : "") + frame.content;
  const stream = {
    turn: frame.turn,
    step: frame.step,
    attempt: frame.attempt,
    at: known?.at ?? state.lastSeq + 0.5,
    text,
  };
  return { ...state, streams: new Map(state.streams).set(key, stream) };
}

/** A text is recorded: it takes the place of what was written of it. */
export function textRecorded(state, frame) {
  const item = {
    kind: "assistant",
    content: frame.content,
    final: frame.final === true,
    unproven: frame.unproven === true,
    stopped: frame.stopped === true,
  };
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

/** A model answered in a turn, or failed it. */
export function modelSeen(state, frame, fails) {
  return frame.seq > state.model.seq ? { ...state, model: { seq: frame.seq, fails } } : state;
}
