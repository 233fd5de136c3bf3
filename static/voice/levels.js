// The end of an utterance by its level: what is loud enough for long enough is speech, and half a
// second of quiet ends it. Pure.

/** A person who begins to speak is heard after so long; less is a click or a knock. */
const BEGINS_MS = 120;
/** So much quiet ends an utterance. */
const QUIET_MS = 500;
/** The beginning of a word is quiet: so much in front of it belongs to it. */
const LEAD_MS = 300;
/** Nobody is heard longer at once. */
const LONGEST_MS = 30_000;
/** Below this level nothing is speech, however quiet the room is. */
const LEAST_LEVEL = 0.012;
/** Speech is so many times as loud as the room; while the page speaks, its own voice may come back. */
const ABOVE_ROOM = 3;
const ABOVE_OWN_VOICE = 6;
/** How quickly the room is learned, for each frame that is no speech. */
const LEARNS = 0.05;

/** How loud a frame is, from 0 to 1. */
export function levelOf(frame) {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return frame.length === 0 ? 0 : Math.sqrt(sum / frame.length);
}

/**
 * Cuts what `push(frame, isSpeaking)` brings, frames of samples from -1 to 1, into utterances. `onBegin(isOver)` is told of a person who begins
 * to speak, `isOver` if the page spoke then; `onEnd(frames, isOver)` of their whole utterance; `onLevel(level)` of each frame.
 */
export function createUtterances({ rate, onBegin, onEnd, onLevel = () => undefined }) {
  let room = LEAST_LEVEL / ABOVE_ROOM;
  let lead = [];
  let frames;
  let loud = 0;
  let quiet = 0;
  let length = 0;
  let isOver = false;
  const msOf = (frame) => (frame.length / rate) * 1000;
  const total = (all) => all.reduce((sum, frame) => sum + msOf(frame), 0);

  function end() {
    const [whole, over] = [frames, isOver];
    frames = undefined;
    [lead, loud, quiet, length] = [[], 0, 0, 0];
    onEnd(whole, over);
  }

  return {
    push(frame, isSpeaking = false) {
      const level = levelOf(frame);
      const ms = msOf(frame);
      onLevel(level);
      // Within an utterance its own quiet parts count as speech sooner.
      const above = frames ? ABOVE_ROOM / 2 : isSpeaking ? ABOVE_OWN_VOICE : ABOVE_ROOM;
      const isLoud = level > Math.max((LEAST_LEVEL / ABOVE_ROOM) * above, room * above);
      if (frames) {
        frames.push(frame);
        length += ms;
        quiet = isLoud ? 0 : quiet + ms;
        if (quiet >= QUIET_MS || length >= LONGEST_MS) end();
        return;
      }
      lead.push(frame);
      loud = isLoud ? loud + ms : 0;
      if (!isLoud) room += (level - room) * LEARNS;
      while (lead.length > 1 && total(lead) - msOf(lead[0]) >= LEAD_MS + loud) lead.shift();
      if (loud < BEGINS_MS) return;
      frames = lead;
      length = total(lead);
      isOver = isSpeaking;
      onBegin(isSpeaking);
    },
    /** Forgets what was begun: the person was muted. */
    forget() {
      frames = undefined;
      [lead, loud, quiet, length] = [[], 0, 0, 0];
    },
    isHeard: () => frames !== undefined,
  };
}
