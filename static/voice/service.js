// The one interface of a voice: a session of ears and mouth, whichever adapter they are. It carries words and runs nothing.

import { createEars, recognition, whereSoundGoes } from "./browser.js";
import { createSpeaker } from "./speaker.js";

/** The adapter for this browser: `{ name, where }`; `where` is `none` if there is none. */
export async function chosenAdapter(lang, from = globalThis) {
  return { name: "browser", where: await whereSoundGoes(recognition(from), lang) };
}

/** Has the browser keep its recogniser on the device. True once it is there. */
export const installLocally = (lang, from = globalThis) => recognition(from).install({ langs: [lang], processLocally: true });

/**
 * A voice service: `startSession()`, `endSession()`, `setMuted(muted)`, `interrupt()` (falls silent, and gives the sentences that were not
 * heard) and `say(text)`. `onTranscript({ text, isFinal, confidence })`, `onResponse(text, aloud)`, `onFunctionCall(name)`, `onError(code)` and
 * `onStateChange(state)` take a listener each; the states are those of `docs/states.md`.
 */
export function createVoiceService({ lang, where, from = globalThis, clock = globalThis }) {
  const listeners = {};
  const tell = (name, ...all) => listeners[name]?.(...all);
  const change = (state) => tell("state", state);
  const speaker = createSpeaker({
    synth: from.speechSynthesis,
    Utterance: from.SpeechSynthesisUtterance,
    lang,
    clock,
    onSay: (text, aloud) => tell("response", text, aloud),
    onQuiet: () => tell("response", ""),
  });
  const ears = createEars({
    Recognition: recognition(from),
    lang,
    local: where === "device",
    clock,
    onStart: () => change("active"),
    onTranscript: (transcript) => tell("transcript", transcript),
    onSound: (isHeard) => tell("sound", isHeard),
    onError: (code) => tell("error", code),
  });
  const on = (name) => (listener) => (listeners[name] = listener);
  return {
    startSession() {
      change("connecting");
      ears.start();
    },
    endSession() {
      ears.stop();
      speaker.stop();
      change("idle");
    },
    /** Hears nothing more; what is being said is said to its end. */
    deafen: () => ears.stop(),
    setMuted: ears.setMuted,
    interrupt: speaker.stop,
    say: speaker.say,
    lastSaid: speaker.last,
    isSpeaking: speaker.isSpeaking,
    onTranscript: on("transcript"),
    onResponse: on("response"),
    onSound: on("sound"),
    onError: on("error"),
    onStateChange: on("state"),
    onFunctionCall: on("function"),
    functionCalled: (name) => tell("function", name),
  };
}
