// Things that a person should hear of at once, wherever they are: a reminder, and the end of the
// focus timer.

const KINDS = new Set(["reminder", "timer"]);

/** A listener for the store that calls `tell(item)` for each that comes in while the page is open, once. An item that is loaded as history is none. */
export function todoNews(tell) {
  /** conversation → the `seq` after which it was seen as it happened, and its items when they were last looked at. */
  const seen = new Map();
  return ({ states }) => {
    for (const [conversation, { followed, hello, historyAfter, items, since }] of states) {
      if (!hello || conversation === null || (historyAfter === null && !followed)) continue;
      const known = seen.get(conversation) ?? { from: since, told: new Set() };
      if (known.items === items) continue;
      seen.set(conversation, { ...known, items });
      for (const [key, item] of items) {
        if (!KINDS.has(item.kind) || item.at <= known.from || known.told.has(key)) continue;
        known.told.add(key);
        tell(item);
      }
    }
  };
}

const NOTES = [[660, 0], [880, 0.18]];
const NOTE_SECONDS = 0.35;

/** Two soft notes; a browser in which nothing was pressed yet makes none. */
export function chime(Context = globalThis.AudioContext) {
  try {
    const audio = new Context();
    const ends = NOTES.map(([pitch, begin]) => {
      const [tone, volume] = [audio.createOscillator(), audio.createGain()];
      const at = audio.currentTime + begin;
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0.2, at);
      volume.gain.exponentialRampToValueAtTime(0.001, at + NOTE_SECONDS);
      tone.connect(volume).connect(audio.destination);
      tone.start(at);
      tone.stop(at + NOTE_SECONDS);
      return new Promise((resolve) => (tone.onended = resolve));
    });
    Promise.all(ends).then(() => audio.close());
  } catch {
    // No sound is possible here.
  }
}
