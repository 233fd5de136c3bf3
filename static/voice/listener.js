// Ears of one's own: the microphone, cut into utterances by their level, which a speech server
// turns into words.

import { reasonOf } from "../core/words.js";
import { createUtterances } from "./levels.js";
import { openMicrophone, RATE } from "./microphone.js";
import { wavOf } from "./wav.js";

/** The browser's name of an error, as the browser's recogniser would have said it. */
const CODES = { NotAllowedError: "not-allowed", SecurityError: "not-allowed", NotFoundError: "audio-capture", NotReadableError: "audio-capture", OverconstrainedError: "audio-capture" };

/**
 * Ears with `start()`, `stop()` and `setMuted(muted)`, as those of `browser.js`. `transcribe(wav)` gives the words of a file; `isSpeaking()` is
 * true while the page speaks. `onInterrupt()` is told of a person who begins to speak meanwhile, before their words are known; `onOpen(isOpen)`
 * that somebody speaks whose words are not known yet; `onLevel(level)` how loud it is.
 */
export function createListener({ transcribe, isSpeaking, onStart, onTranscript, onSound, onLevel, onInterrupt, onOpen = () => undefined, onError, open = openMicrophone }) {
  let close;
  let run = 0;
  let isOn = false;
  let isMuted = false;
  /** Words that were said first are a message first, however long a server thinks about it. */
  let words = Promise.resolve();
  let frames = 0;
  /** Utterances whose words are not known. */
  let unknown = 0;
  function opens(more) {
    const was = unknown;
    unknown += more;
    if ((was === 0) !== (unknown === 0)) onOpen(unknown > 0);
  }
  const utterances = createUtterances({
    rate: RATE,
    // Ten times a second is as much as an eye follows.
    onLevel: (level) => (frames += 1) % 5 === 0 && onLevel(level),
    onBegin(isOver) {
      opens(1);
      onSound(true);
      if (isOver) onInterrupt();
    },
    onEnd(frames, isOver) {
      onSound(false);
      const own = run;
      const asked = transcribe(wavOf(frames, RATE));
      words = words.then(() => asked).then(
        ({ text }) => own === run && text !== "" && onTranscript({ text, isFinal: true, isOver }),
        (error) => own === run && onError("server", reasonOf(error)),
      ).then(() => own === run && opens(-1));
    },
  });

  function silence() {
    run += 1;
    if (utterances.isHeard()) onSound(false);
    utterances.forget();
    opens(-unknown);
    close?.();
    close = undefined;
  }

  async function listen() {
    const own = (run += 1);
    try {
      // While somebody speaks the page does not, whatever waits to be spoken.
      const opened = await open({ onFrame: (frame) => own === run && utterances.push(frame, unknown === 0 && isSpeaking()), onLost: () => own === run && fail("audio-capture") });
      if (own !== run) {
        opened();
        return;
      }
      close = opened;
      onStart();
    } catch (error) {
      if (own === run) fail(CODES[error.name] ?? "audio-capture");
    }
  }

  function fail(code) {
    isOn = false;
    silence();
    onError(code);
  }

  return {
    start() {
      isOn = true;
      if (!isMuted) listen();
    },
    stop() {
      isOn = false;
      silence();
    },
    /** The microphone of a person who is muted is closed. */
    setMuted(is) {
      if (isMuted === is) return;
      isMuted = is;
      if (isMuted) silence();
      else if (isOn) listen();
    },
  };
}
