// The browser's own voice: one sentence after the other, and silence at once when it is asked for.

/** Browsers tell of their voices when they have them. */
const VOICES_MS = 1500;
/** An utterance that neither ends nor fails is given up after so long. */
const LEAST_MS = 5000;
const MS_A_CHARACTER = 130;
/** The page itself fell silent: these are no failures. */
const SILENCED = new Set(["interrupted", "canceled"]);
/** After these no other sentence would be heard either. */
const VOICELESS = new Set(["synthesis-failed", "voice-unavailable", "synthesis-unavailable", "language-unavailable"]);

/** The voice for a language: one of this machine first, then one of the same country. Nothing if there is none at all. */
export function voiceFor(voices, lang) {
  const tag = (voice) => voice.lang.replace("_", "-").toLowerCase();
  const wanted = lang.toLowerCase();
  const rank = (voice) => (tag(voice).slice(0, 2) === wanted.slice(0, 2) ? 4 : 0) + (voice.localService ? 2 : 0) + (tag(voice) === wanted ? 1 : 0);
  return [...voices].sort((a, b) => rank(b) - rank(a))[0];
}

/**
 * A mouth with `say(text)`, `stop()` (gives the sentences that were not said to their end), `hold(is)` (begins no sentence meanwhile) and
 * `isSpeaking()`. `onSay(text, aloud)` is told of each sentence as it begins, and again if it has to be shown; `onQuiet()` when nothing is left.
 */
export function createSpeaker({ synth = globalThis.speechSynthesis, Utterance = globalThis.SpeechSynthesisUtterance, lang, onSay, onQuiet, clock = globalThis }) {
  const queue = [];
  let current;
  let isHeld = false;
  let timer;
  let voice;
  let isMute = !synth || !Utterance;
  const ready = isMute ? Promise.resolve() : voicesOf(synth, clock).then((voices) => ((voice = voiceFor(voices, lang)), (isMute ||= !voice)));

  function next() {
    clock.clearTimeout(timer);
    current = undefined;
    if (isHeld && queue.length > 0) return;
    const text = queue.shift();
    if (text === undefined) {
      onQuiet();
      return;
    }
    const own = (current = { text });
    if (isMute) {
      show(own);
      return;
    }
    onSay(text, true);
    const over = () => own === current && !own.isShown && next();
    timer = clock.setTimeout(() => (show(own), synth.cancel()), LEAST_MS + text.length * MS_A_CHARACTER);
    const utterance = new Utterance(text);
    // The browser may forget an utterance that nobody holds, and its end is never told.
    own.utterance = utterance;
    Object.assign(utterance, { voice, lang: voice.lang, onend: over });
    utterance.onerror = ({ error }) => {
      if (own !== current || own.isShown) return;
      if (SILENCED.has(error)) {
        over();
        return;
      }
      isMute ||= VOICELESS.has(error);
      show(own);
    };
    synth.speak(utterance);
  }

  /** Without a voice the sentence is read, and nothing has to be waited for but the reader. */
  function show(own) {
    own.isShown = true;
    clock.clearTimeout(timer);
    onSay(own.text, false);
    timer = clock.setTimeout(() => own === current && next(), readingTime(own.text));
  }

  const begin = () => ready.then(() => current === undefined && queue.length > 0 && next());

  return {
    ready,
    say(text) {
      queue.push(text);
      if (current === undefined && queue.length === 1) begin();
    },
    stop() {
      clock.clearTimeout(timer);
      const unsaid = [...(current ? [current.text] : []), ...queue.splice(0)];
      current = undefined;
      if (!isMute) synth.cancel();
      return unsaid;
    },
    hold(is) {
      isHeld = is;
      if (!is && current === undefined && queue.length > 0) begin();
    },
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
