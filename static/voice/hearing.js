// The two who talk in a call: who speaks, who is heard, and what of it is a message. No DOM.

import { waiting } from "../core/state-law.js";
import { isEcho, isUnclear, wordsIn } from "./echo.js";

/** Two words are no cough: what is being spoken stops. */
const INTERRUPTING_WORDS = 2;
/** After an answer that nobody could tell the question is said once more. */
const REPEAT_MS = 3000;
/** A recogniser that says nothing more for so long of what somebody began to say has lost it. */
const LOST_MS = 2500;
/** So long behind Law's last word the microphone may still tell of it, and of so many sentences. */
const ECHO_MS = 2000;
const ECHO_SENTENCES = 3;

/**
 * Hears the person of a call and keeps still meanwhile. `own` is the call: its `voice`, its `reader`, and what was `spoken`. `say(text)` sends a
 * message, `sayAll(own, text)` speaks one; `read(own)` looks at the conversation of `stateOf()` again; `show(changes)` changes the view. `mark(own)`
 * marks in the conversation what was not heard.
 */
export function createHearing({ show, viewOf, stateOf, read, mark, say, sayAll, isLive, clock }) {
  function responded(own, text, aloud = true) {
    show({ speaking: text, aloud, doing: undefined });
    if (text === "") fellSilent(own);
    else if (aloud) {
      clock.clearTimeout(own.echo);
      own.mayEcho = true;
      own.spoken = [...own.spoken, text].slice(-ECHO_SENTENCES);
    }
  }

  function fellSilent(own) {
    clock.clearTimeout(own.echo);
    own.echo = clock.setTimeout(() => (own.mayEcho = false), ECHO_MS);
  }

  function heard(own, { text, isFinal, confidence, isOver }) {
    const { voice } = own;
    if (voice.carries) {
      show({ interim: isFinal ? "" : text });
      return;
    }
    if (viewOf().isMuted) return;
    if (viewOf().error === "network" || (viewOf().error === "server" && isFinal)) show({ error: undefined, problem: undefined });
    if (isOwn(own, text, isFinal, isOver)) {
      if (isFinal) closed(own);
      return;
    }
    if (!isFinal) waitFor(own);
    if (wordsIn(text).length >= INTERRUPTING_WORDS || isFinal) interrupt(own);
    if (!isFinal) {
      show({ interim: text });
      return;
    }
    if (!isUnclear(text, confidence)) {
      clock.clearTimeout(own.repeat);
      own.isHushed = false;
      own.reader.sent();
      say(text);
    }
    closed(own);
  }

  /** The person has begun to say something: no sentence is begun until they have said it. */
  function waitFor(own) {
    clock.clearTimeout(own.lost);
    own.lost = clock.setTimeout(() => closed(own), LOST_MS);
    own.isOpen = true;
    own.voice.hold(true);
  }

  /** Speech servers: somebody speaks whose words are not known yet. */
  function opened(own, isOpen) {
    own.isLoud = isOpen;
    if (isOpen) own.voice.hold(true);
    else closed(own);
  }

  /** The person has said what they began to say. If Law fell silent for nothing that it could understand, it goes on. */
  function closed(own) {
    clock.clearTimeout(own.lost);
    own.isOpen = false;
    if (viewOf().interim) show({ interim: "" });
    own.voice.hold(own.isLoud === true);
    if (!own.isHushed) return;
    own.isHushed = false;
    own.reader.resume();
    read(own);
    const asked = waiting(stateOf() ?? { items: new Map(), turns: new Map() }).find(({ shown }) => shown?.question);
    if (!asked || own.repeated === asked.id) return;
    clock.clearTimeout(own.repeat);
    own.repeat = clock.setTimeout(() => repeat(own, asked), REPEAT_MS);
  }

  /** The page hears itself. One short word at the end of what is heard is a person's. */
  const isOwn = (own, text, isFinal, isOver) =>
    (isOver || own.mayEcho) && isEcho(text, own.spoken.join(" ")) && (!isFinal || wordsIn(text).length > INTERRUPTING_WORDS);

  function repeat(own, { id, shown }) {
    const stillAsked = isLive(own) && waiting(stateOf()).some((each) => each.id === id);
    if (!stillAsked || own.repeated === id) return;
    own.repeated = id;
    sayAll(own, shown.question);
  }

  /** The person speaks: nothing more is spoken of what was to be said, and of what the turn that runs says until it has heard them. */
  function interrupt(own) {
    own.isHushed = true;
    own.reader.hush(stateOf());
    if (!own.voice.isSpeaking()) return;
    const unheard = own.voice.interrupt();
    fellSilent(own);
    if (unheard.length === 0) return;
    own.reader.unheard(unheard);
    mark(own);
    show({ speaking: "", unheard });
  }

  /** The timers of a call that is over. */
  function clear(own) {
    for (const timer of [own.repeat, own.lost, own.echo]) clock.clearTimeout(timer);
  }

  return { responded, heard, opened, closed, interrupt, clear };
}
