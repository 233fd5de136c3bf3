// Ears of the browser itself: its recogniser, which is started again as often as it ends.

/** Pauses before a recogniser that ended is started again. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4000;
/** After these it is not started again: a person has to do something first. */
const FINAL = new Set(["not-allowed", "service-not-allowed", "audio-capture"]);
const SILENT = new Set(["no-speech", "aborted"]);

/** The recogniser of this browser; nothing if it has none. */
export const recognition = (from = globalThis) => from.SpeechRecognition ?? from.webkitSpeechRecognition;

/** The place the sound goes to: `device`, `downloadable` (it could stay here), `maker` (the browser's maker hears it), or `none`. */
export async function whereSoundGoes(Recognition, lang) {
  if (!Recognition) return "none";
  try {
    const known = await Recognition.available?.({ langs: [lang], processLocally: true });
    if (known === "available") return "device";
    if (known === "downloadable" || known === "downloading") return "downloadable";
  } catch {
    // A browser that cannot say so hears through its maker.
  }
  return "maker";
}

/**
 * Ears with `start()`, `stop()` and `setMuted(muted)`. They tell `onStart()`, `onTranscript({ text, isFinal, confidence })`,
 * `onSound(isHeard)` and `onError(code)`.
 */
export function createEars({ Recognition, lang, local, onStart, onTranscript, onSound, onError, clock = globalThis }) {
  let ear;
  let wanted = false;
  let muted = false;
  let pause = FIRST_PAUSE_MS;
  let timer;
  let isNetworkTold = false;

  function listen() {
    clock.clearTimeout(timer);
    if (!wanted || muted || ear) return;
    const own = new Recognition();
    ear = own;
    Object.assign(own, { continuous: true, interimResults: true, maxAlternatives: 1, lang });
    if (local) own.processLocally = true;
    own.onstart = () => own === ear && onStart();
    own.onresult = (event) => own === ear && heard(event);
    own.onspeechstart = () => own === ear && onSound(true);
    own.onspeechend = () => own === ear && onSound(false);
    own.onerror = ({ error }) => own === ear && failed(error);
    own.onend = () => own === ear && ended();
    try {
      own.start();
    } catch {
      ended();
    }
  }

  function heard({ results, resultIndex = 0 }) {
    pause = FIRST_PAUSE_MS;
    isNetworkTold = false;
    for (let index = resultIndex; index < results.length; index += 1) {
      const result = results[index];
      const { transcript, confidence } = result[0];
      onTranscript({ text: transcript.trim(), isFinal: result.isFinal, confidence });
    }
  }

  function failed(error) {
    if (SILENT.has(error)) return;
    if (FINAL.has(error)) wanted = false;
    if (error === "network") {
      if (isNetworkTold) return;
      isNetworkTold = true;
    }
    onError(error);
  }

  function ended() {
    ear = undefined;
    onSound(false);
    if (!wanted || muted) return;
    timer = clock.setTimeout(listen, pause);
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
  }

  function silence() {
    clock.clearTimeout(timer);
    const own = ear;
    ear = undefined;
    onSound(false);
    own?.abort();
  }

  return {
    start() {
      wanted = true;
      pause = FIRST_PAUSE_MS;
      listen();
    },
    stop() {
      wanted = false;
      silence();
    },
    setMuted(is) {
      muted = is;
      if (muted) silence();
      else listen();
    },
  };
}
