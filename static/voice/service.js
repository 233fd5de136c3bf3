// The one interface of a voice: a session of ears and mouth, whichever adapter they are. It carries
// words and runs nothing.

import { createEars, recognition, whereSoundGoes } from "./browser.js";
import { createListener } from "./listener.js";
import { canRecord } from "./microphone.js";
import { createPlayer } from "./player.js";
import { createSpeaker } from "./speaker.js";
import { canJoin, createVapiVoice } from "./vapi.js";

/** Daily's module is a quarter of a megabyte: it is loaded for a call by Vapi alone. */
const loadDaily = () => import("../vendor/daily-js-0.87.0.esm.js");

/** The adapters that a person may choose between, here and with this server: `own`, `browser` and `vapi`. */
export function adaptersFor(servers, from = globalThis) {
  return [...(servers?.hears && canRecord(from) ? ["own"] : []), ...(recognition(from) ? ["browser"] : []), ...(servers?.vapi && canJoin(from) ? ["vapi"] : [])];
}

/**
 * The adapter for this browser: `{ name, where, host }`; `where` is `none` if there is none. `wanted` is what the person has chosen; else the
 * speech servers of the operator are taken, if there are some, then the browser's recogniser, and Vapi last.
 */
export async function chosenAdapter({ lang, servers, wanted, from = globalThis }) {
  const there = adaptersFor(servers, from);
  const name = there.includes(wanted) ? wanted : there[0];
  if (name === "vapi") return { name, where: "vapi" };
  if (name === "own") return { name, where: "own", host: servers.hears };
  return { name: "browser", where: await whereSoundGoes(recognition(from), lang) };
}

/** Has the browser keep its recogniser on the device. True once it is there. */
export const installLocally = (lang, from = globalThis) => recognition(from).install({ langs: [lang], processLocally: true });

/**
 * A voice service: `startSession()`, `endSession()`, `setMuted(muted)`, `interrupt()` (falls silent, and gives the sentences that were not
 * heard), `say(text)`, `hold(is)` (begins no sentence meanwhile), and `functionCalled(name)`: a turn of the call did so, and the voice runs
 * nothing. `onTranscript({ text, isFinal, confidence, isOver })`, `onResponse(text, aloud)`, `onFunctionCall(name)`, `onInterrupt()`,
 * `onOpen(isOpen)` (somebody speaks whose words are not known yet), `onSound(isHeard)`, `onLevel(level)`, `onError(code, message)` and
 * `onStateChange(state)` take a listener each; the states are those of `docs/states.md`. `speech` has
 * `transcribe(wav, lang)` and `speak(text, signal)`, and `servers`; `room` is that of a call by Vapi. A voice that `carries` the words itself sends and
 * speaks them without the page.
 */
export function createVoiceService({ lang, adapter, where, room, speech, load = loadDaily, from = globalThis, clock = globalThis }) {
  const listeners = {};
  const tell = (name, ...all) => listeners[name]?.(...all);
  const on = (name) => (listener) => (listeners[name] = listener);
  const telling = {
    onTranscript: on("transcript"),
    onResponse: on("response"),
    onSound: on("sound"),
    onLevel: on("level"),
    onInterrupt: on("interrupt"),
    onOpen: on("open"),
    onError: on("error"),
    onStateChange: on("state"),
    onFunctionCall: on("function"),
    functionCalled: (name) => tell("function", name),
  };
  if (adapter === "vapi") return { ...createVapiVoice({ room, load, tell }), ...telling };
  const change = (state) => tell("state", state);
  const told = {
    onStart: () => change("active"),
    onTranscript: (transcript) => tell("transcript", transcript),
    onSound: (isHeard) => tell("sound", isHeard),
    onError: (code, message) => tell("error", code, message),
  };
  let isDeaf = false;
  const spoken = {
    onSay: (text, aloud) => tell("response", text, aloud),
    onQuiet() {
      tell("response", "");
      if (isDeaf) mouth.close?.();
    },
  };
  const mouth = speech?.servers?.speaks
    ? createPlayer({ speech: speech.speak, ...spoken, onError: (message) => tell("error", "server", message), clock })
    : createSpeaker({ synth: from.speechSynthesis, Utterance: from.SpeechSynthesisUtterance, lang, clock, ...spoken });
  const ears =
    adapter === "own"
      ? createListener({ transcribe: (wav) => speech.transcribe(wav, lang), isSpeaking: mouth.isSpeaking, ...told, onLevel: (level) => tell("level", level), onInterrupt: () => tell("interrupt"), onOpen: (isOpen) => tell("open", isOpen) })
      : createEars({ Recognition: recognition(from), lang, local: where === "device", clock, ...told });
  return {
    ...telling,
    startSession() {
      change("connecting");
      ears.start();
    },
    endSession() {
      ears.stop();
      mouth.stop();
      mouth.close?.();
      change("idle");
    },
    /** Hears nothing more; what is being said is said to its end. */
    deafen() {
      isDeaf = true;
      ears.stop();
      mouth.hold(false);
    },
    setMuted: ears.setMuted,
    interrupt: mouth.stop,
    hold: mouth.hold,
    say: mouth.say,
    isSpeaking: mouth.isSpeaking,
  };
}
