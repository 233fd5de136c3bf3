// A mouth of one's own: a speech server says each sentence, and the page plays it while the next
// one is on its way.

import { reasonOf } from "../core/words.js";

const readingTime = (text) => 600 + text.length * 40;

/** The sound of sentences, by the Web Audio of this browser: `decode(bytes)`, `play(sound, onEnd)`, which gives a way to stop it, and `close()`. */
export function createSoundOutput(from = globalThis) {
  let context;
  const own = () => (context ??= new from.AudioContext());
  return {
    decode: (bytes) => own().decodeAudioData(bytes),
    play(sound, onEnd) {
      const source = own().createBufferSource();
      source.buffer = sound;
      source.connect(own().destination);
      source.onended = onEnd;
      own().resume().catch(() => undefined);
      source.start();
      return () => {
        source.onended = null;
        source.stop();
      };
    },
    close: () => context?.close().catch(() => undefined),
  };
}

/**
 * A mouth as that of `speaker.js`, with `close()`. `speech(text, signal)` gives the bytes of a sentence; one that cannot be had is shown for as
 * long as it takes to read it, and `onError(message)` says why, once.
 */
export function createPlayer({ speech, onSay, onQuiet, onError, output = createSoundOutput(), clock = globalThis }) {
  const queue = [];
  let current;
  /** Settled once a sentence may begin; `free` settles it. */
  let held;
  let free;
  let isTold = false;

  /** The sound of a sentence; nothing if the server has none. */
  function fetched(entry) {
    entry.gone = new AbortController();
    entry.sound = speech(entry.text, entry.gone.signal)
      .then((bytes) => output.decode(bytes))
      .catch((error) => {
        if (!entry.gone.signal.aborted) failed(error);
      });
  }

  function failed(error) {
    if (isTold) return;
    isTold = true;
    onError(reasonOf(error));
  }

  async function next() {
    current = queue.shift();
    if (current === undefined) {
      onQuiet();
      return;
    }
    const own = current;
    if (!own.sound) fetched(own);
    if (queue[0] && !queue[0].sound) fetched(queue[0]);
    const sound = await own.sound;
    while (held) await held;
    if (own !== current) return;
    onSay(own.text, sound !== undefined);
    const over = () => own === current && next();
    if (sound === undefined) own.timer = clock.setTimeout(over, readingTime(own.text));
    else own.silence = output.play(sound, over);
  }

  return {
    ready: Promise.resolve(),
    say(text) {
      queue.push({ text });
      if (current === undefined) next();
      else if (queue.length === 1) fetched(queue[0]);
    },
    stop() {
      const all = [...(current ? [current] : []), ...queue.splice(0)];
      current = undefined;
      for (const { gone, timer, silence } of all) {
        gone?.abort();
        clock.clearTimeout(timer);
        silence?.();
      }
      return all.map(({ text }) => text);
    },
    hold(is) {
      if (is) held ??= new Promise((resolve) => (free = resolve));
      else if (held) {
        held = undefined;
        free();
      }
    },
    isSpeaking: () => current !== undefined || queue.length > 0,
    isMute: () => false,
    close: output.close,
  };
}
