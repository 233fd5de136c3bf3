// Law's words, out of the page's state of the conversation: sentence by sentence while an answer is
// written, questions, and failures. No DOM and no voice.

import { waiting } from "../core/state-law.js";
import { hasEnded, openTurns } from "../core/state-parts.js";
import { createSpeech, sentencesOf } from "./speakable.js";

/** So many sentences may wait to be spoken, or be spoken, when the person falls into Law's word. */
const MOST_GIVEN = 100;

/** The `turn:step` of a recorded answer. */
const placeOf = (key) => key.slice("assistant:".length);

/**
 * A reader of one conversation from now on. `say(text)` speaks a sentence; `drop()` forgets what waits to be spoken. `said` are the words of
 * the voice. `does(name)` hears of each function that is called. `told(state)` is called whenever the state has changed. `hush(state)`: the person
 * speaks, so nothing more is read of the turn that runs until its model has seen what they said. Then comes `sent()`, or `resume()` if it was
 * nothing. Questions and failures are read all the while. `unheard(sentences)`: these were silenced. `marks()` gives, once, the answers of which
 * something was not heard: each `{ place, text }`, its `turn:step` and the first sentence that was missed, an empty one for all of it.
 */
export function createReader({ lang, said, say, drop, does, from }) {
  /** `turn:step` → how far its text was read: { attempt, length, speech, count, over } */
  const read = new Map();
  const known = new Set();
  /** turn → the `seq` at which the person fell into it. Its steps are left unread until it is known from which one on they are heard. */
  const hushed = new Map();
  /** turn → `hushed` of it before the utterance that goes on. */
  const before = new Map();
  /** The sentences that were given to the voice last: { place, text } */
  let given = [];
  const missed = [];

  const isOrder = (state, turn) => state.turns.get(turn)?.origin === "command";
  const begun = (key, attempt) => {
    const progress = { attempt, length: 0, speech: createSpeech(lang, said), count: 0 };
    read.set(key, progress);
    return progress;
  };
  const speak = (place, progress, sentences) => {
    for (const text of sentences) {
      progress.count += 1;
      given = [...given.slice(1 - MOST_GIVEN), { place, text }];
      say(text);
    }
  };
  const miss = (place, text = "") => missed.push({ place, text });

  function written(key, { text, attempt, recorded }) {
    if (recorded) return;
    let progress = read.get(key);
    if (progress && progress.attempt !== attempt) {
      // The answer begins anew: what was said of the last attempt is not gone on with.
      const { count, hushed } = progress;
      if (count > 0 && !hushed) drop();
      progress = Object.assign(begun(key, attempt), { hushed });
    }
    progress ??= begun(key, attempt);
    if (progress.over || progress.hushed) return;
    const more = text.slice(progress.length);
    progress.length = text.length;
    if (more) speak(key, progress, progress.speech.push(more));
  }

  function recorded({ turn, key, content, unproven, final, stopped }) {
    const place = placeOf(key);
    const progress = read.get(place) ?? begun(place, 0);
    if (progress.over) return;
    progress.over = true;
    const rest = () => [...progress.speech.push(content.slice(progress.length)), ...progress.speech.flush()];
    if (progress.hushed) {
      const [first] = rest();
      if (first) miss(place, first);
      return;
    }
    if (unproven && !final) {
      // The ledger knows nothing of what was claimed: it is not spoken on.
      drop();
      if (progress.count > 0) say(said.correct);
      return;
    }
    if (stopped) return;
    speak(place, progress, rest());
    // It ends the turn, so nothing follows that would put it right.
    if (unproven) say(said.unsure);
  }

  const sayAll = (text) => {
    for (const sentence of sentencesOf(text, lang, said)) say(sentence);
  };

  /** The reason of a failure. It is the server's and in English; of a model that fails a page in another language has words of its own. */
  const reasonOf = ({ model }, { at, content }) => (model.fails && model.seq === at && said.noModel) || content;

  /** The `seq` from which on the model knows what was said behind `since`; nothing while it does not. */
  function answeredFrom(state, since) {
    let from;
    for (const { kind, at, steered, shownAt } of state.items.values()) {
      // Words that did not join the turn decided its question, or are a turn of their own.
      if (kind === "user" && at > since) from = Math.min(from ?? Infinity, (steered ? shownAt : at) ?? Infinity);
    }
    return from === Infinity ? undefined : from;
  }

  /** Turns that were hushed are read again from the step that answers the person; the steps in front of it never are. */
  function unhush(state) {
    for (const [turn, since] of hushed) {
      const from = answeredFrom(state, since) ?? (hasEnded(state.turns.get(turn)) && !before.has(turn) ? Infinity : undefined);
      if (from === undefined) continue;
      hushed.delete(turn);
      for (const [key, stream] of state.streams) if (stream.turn === turn && stream.at < from) (read.get(key) ?? begun(key, stream.attempt)).hushed = true;
      for (const [key, item] of state.items) if (item.turn === turn && item.kind === "assistant" && item.at < from) passedOver(key, item);
    }
  }

  /** An answer is not read at all. Of one that was read until the person spoke, its beginning was heard. */
  function passedOver(key, item) {
    if (known.has(key)) return;
    known.add(key);
    const place = placeOf(key);
    if (read.get(place)?.count > 0) recorded({ ...item, key });
    else miss(place);
  }

  function told(state) {
    unhush(state);
    for (const [key, stream] of state.streams) if (!isOrder(state, stream.turn) && !hushed.has(stream.turn)) written(key, stream);
    for (const [key, item] of state.items) {
      if (known.has(key) || item.at <= from || isOrder(state, item.turn)) continue;
      if (item.kind === "assistant" && hushed.has(item.turn)) continue;
      if (item.kind === "assistant") recorded(item);
      else if (item.kind === "error") sayAll(reasonOf(state, item));
      else if (item.kind === "tool") does(item.name);
      else continue;
      known.add(key);
    }
    for (const { id, shown } of waiting(state)) {
      const key = `asked:${id}`;
      if (known.has(key) || !shown?.question) continue;
      known.add(key);
      sayAll(shown.question);
    }
  }

  return {
    told,
    hush(state) {
      for (const progress of read.values()) if (!progress.over) progress.hushed = true;
      const [running] = state ? openTurns(state.turns) : [];
      if (!running) return;
      if (!before.has(running.id)) before.set(running.id, hushed.get(running.id));
      hushed.set(running.id, state.lastSeq);
    },
    unheard(sentences) {
      const first = new Map();
      for (const text of sentences.toReversed()) {
        const at = given.findLastIndex((each) => each.text === text);
        if (at === -1) continue;
        first.set(given[at].place, text);
        given = given.slice(0, at);
      }
      for (const [place, text] of first) miss(place, text);
    },
    marks: () => missed.splice(0),
    sent: () => before.clear(),
    resume() {
      for (const [turn, since] of before) if (since === undefined) hushed.delete(turn); else hushed.set(turn, since);
      before.clear();
    },
    /** Nothing of what was said is on its way to a model. */
    forget() {
      before.clear();
      hushed.clear();
    },
  };
}
