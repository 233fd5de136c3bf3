// What Law says, out of what the page knows of the conversation: sentence by sentence while an answer is written, questions, and failures.
// No DOM and no voice.

import { waiting } from "../core/state-law.js";
import { createSpeech } from "./speakable.js";

/**
 * A reader of one conversation from now on. `say(text)` speaks a sentence; `drop()` forgets what waits to be spoken. `said` are the words of
 * the voice. `does(name)` hears of each function that is called. `told(state)` is called whenever the state has changed; `hush(turn)` reads nothing more of the answers that are being written.
 */
export function createReader({ lang, said, say, drop, does, from }) {
  /** `turn:step` → how far its text was read: { attempt, length, speech, count, over } */
  const read = new Map();
  const known = new Set();

  const isOrder = (state, turn) => state.turns.get(turn)?.origin === "command";
  const begun = (key, attempt) => {
    const progress = { attempt, length: 0, speech: createSpeech(lang, said), count: 0 };
    read.set(key, progress);
    return progress;
  };
  const speak = (progress, sentences) => {
    for (const sentence of sentences) {
      progress.count += 1;
      say(sentence);
    }
  };

  function written(key, { text, attempt, recorded }) {
    if (recorded) return;
    let progress = read.get(key);
    if (progress && progress.attempt !== attempt) {
      // The answer begins anew: what was said of the last attempt is not gone on with.
      if (progress.count > 0) drop();
      progress = undefined;
    }
    progress ??= begun(key, attempt);
    if (progress.over || progress.hushed) return;
    const more = text.slice(progress.length);
    progress.length = text.length;
    if (more) speak(progress, progress.speech.push(more));
  }

  function recorded({ turn, key, content, unproven, final, stopped }) {
    const place = key.slice("assistant:".length);
    const progress = read.get(place) ?? begun(place, 0);
    if (progress.over) return;
    progress.over = true;
    if (unproven && !final) {
      // The ledger knows nothing of what was claimed: it is not spoken on.
      drop();
      if (progress.count > 0) say(said.correct);
      return;
    }
    if (stopped || progress.hushed) return;
    speak(progress, [...progress.speech.push(content.slice(progress.length)), ...progress.speech.flush()]);
  }

  function told(state) {
    for (const [key, stream] of state.streams) if (!isOrder(state, stream.turn)) written(key, stream);
    for (const [key, item] of state.items) {
      if (known.has(key) || item.at <= from || isOrder(state, item.turn)) continue;
      if (item.kind === "assistant") recorded(item);
      else if (item.kind === "error") say(item.content);
      else if (item.kind === "tool") does(item.name);
      else continue;
      known.add(key);
    }
    for (const { id, shown } of waiting(state)) {
      const key = `asked:${id}`;
      if (known.has(key) || !shown?.question) continue;
      known.add(key);
      say(shown.question);
    }
  }

  return {
    told,
    hush() {
      for (const progress of read.values()) if (!progress.over) progress.hushed = true;
    },
  };
}
