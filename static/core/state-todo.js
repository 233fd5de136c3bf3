// The page's knowledge of timers, reminders, calls, and a conversation that was begun anew. Pure,
// part of the reducer.

import { hasEnded, putItem } from "./state-parts.js";

/** The focus timer changed. Its end is told in the conversation; other changes have the call that made them. */
function timerChanged(state, { seq, over, content, ...frame }) {
  const next = seq > (state.timerSeq ?? 0) ? { ...state, timerSeq: seq } : state;
  return over ? putItem(next, { ...frame, seq }, `timer:${seq}`, { kind: "timer", content }) : next;
}

/** A person was reminded of a task. */
const reminded = (state, frame) => putItem(state, frame, `reminder:${frame.seq}`, { kind: "reminder", content: frame.content });

/** Nothing before this frame is shown any more, and nothing earlier is to be loaded. */
function begunAnew(state, { seq }) {
  const after = (map, at) => new Map([...map].filter(([, entry]) => at(entry) > seq));
  const turns = new Map([...state.turns].filter(([, turn]) => turn.order > seq || !hasEnded(turn)));
  const streams = new Map([...state.streams].filter(([, { turn }]) => turns.has(turn)));
  return { ...state, items: after(state.items, ({ at }) => at), turns, streams, historyAfter: state.historyAfter === null ? null : 0 };
}

/** A word about a turn that is under way; it holds until something of the turn is recorded. */
function noticed(state, { turn: id, content }) {
  const turn = state.turns.get(id);
  if (!turn || hasEnded(turn)) return state;
  return { ...state, turns: new Map(state.turns).set(id, { ...turn, notice: content, noticeTold: turn.told }) };
}

/** From `after` on the frames of this conversation come as they happen. */
const followed = (state, { after }) => ({ ...state, followed: true, since: Math.max(state.since, after), lastSeq: Math.max(state.lastSeq, after) });

/** Of what was spoken of an answer, the person did not hear this sentence and the rest. The first one counts; only this page knows. */
const unheard = (state, { place, text }) => (state.unheard?.has(place) ? state : { ...state, unheard: new Map(state.unheard).set(place, text) });

/** A call with Law began, is connected, or ended, here or in another tab. */
const called = (state, { seq }) => ({ ...state, callSeq: Math.max(state.callSeq ?? 0, seq) });

/** The word about a turn just now, if nothing of it was recorded since. */
export const noticeOf = (turn) => (turn.noticeTold === turn.told ? turn.notice : undefined);

export const TODO_HANDLERS = { timer: timerChanged, reminder: reminded, anew: begunAnew, notice: noticed, voice: called, "@unheard": unheard, "@follow": followed };
