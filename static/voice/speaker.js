// The browser's own voice: one sentence after the other, and silence at once when it is asked for.

/** Browsers tell of their voices when they have them. */
const VOICES_MS = 1500;
/** An utterance that neither ends nor fails is given up after so long. */
const LEAST_MS = 5000;
const MS_A_CHARACTER = 130;

/** The voice for a language: one of this machine first, of the same country first. Nothing if there is none at all. */
export function voiceFor(voices, lang) {
  const tag = (voice) => voice.lang.replace("_", "-").toLowerCase();
  const wanted = lang.toLowerCase();
  const rank = (voice) => (tag(voice) === wanted ? 4 : tag(voice).slice(0, 2) === wanted.slice(0, 2) ? 2 : 0) + (voice.localService ? 1 : 0);
  return [...voices].sort((a, b) => rank(b) - rank(a))[0];
}

/**
 * A mouth with `say(text)`, `stop()` (gives the sentences that were not said to their end), `last()` (the sentence that is, or was last,
 * spoken) and `isSpeaking()`. `onSay(text, aloud)` is told of each sentence as it begins, `onQuiet()` when nothing is left.
 */
export function createSpeaker({ synth = globalThis.speechSynthesis, Utterance = globalThis.SpeechSynthesisUtterance, lang, onSay, onQuiet, clock = globalThis }) {
  const queue = [];
  let current;
  let last = "";
  let timer;
  let voice;
  let isMute = !synth || !Utterance;
  const ready = isMute ? Promise.resolve() : voicesOf(synth, clock).then((voices) => ((voice = voiceFor(voices, lang)), (isMute ||= !voice)));

  function next() {
    clock.clearTimeout(timer);
    const text = queue.shift();
    current = undefined;
    if (text === undefined) {
      onQuiet();
      return;
    }
    last = text;
    const own = (current = { text });
    onSay(text, !isMute);
    const over = () => own === current && next();
    // Without a voice the sentence is read, and nothing has to be waited for but the reader.
    timer = clock.setTimeout(() => (isMute || synth.cancel(), over()), isMute ? readingTime(text) : LEAST_MS + text.length * MS_A_CHARACTER);
    if (isMute) return;
    const utterance = new Utterance(text);
    // The browser may forget an utterance that nobody holds, and its end is never told.
    own.utterance = utterance;
    Object.assign(utterance, { voice, lang: voice.lang, onend: over });
    utterance.onerror = ({ error }) => {
      if (own !== current) return;
      if (error === "synthesis-failed" || error === "voice-unavailable" || error === "synthesis-unavailable") {
        isMute = true;
        onSay(text, false);
      }
      over();
    };
    synth.speak(utterance);
  }

  return {
    ready,
    say(text) {
      queue.push(text);
      if (current === undefined && queue.length === 1) ready.then(() => current === undefined && queue.length > 0 && next());
    },
    stop() {
      clock.clearTimeout(timer);
      const unsaid = [...(current ? [current.text] : []), ...queue.splice(0)];
      current = undefined;
      if (!isMute) synth.cancel();
      return unsaid;
    },
    last: () => last,
    isSpeaking: () => current !== undefined || queue.length > 0,
    isMute: () => isMute,
  };
}

const readingTime = (text) => 600 + text.length * 40;

function voicesOf(synth, clock) {
  const known = synth.getVoices();
  if (known.length > 0) return Promise.resolve(known);
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve(synth.getVoices()), VOICES_MS);
    synth.addEventListener?.("voiceschanged", () => (clock.clearTimeout(timer), resolve(synth.getVoices())), { once: true });
  });
}
