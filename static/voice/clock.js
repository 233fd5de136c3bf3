// How long a call has been going on, and its sentence. Pure.

import { clockOf } from "../core/countdown.js";

/** The time of a call as a clock shows it. */
export const talked = ({ startedAt }, now = Date.now()) => (startedAt === undefined ? "" : clockOf(Math.floor((now - startedAt) / 1000) * 1000));

/** A sentence that says who speaks, or what the call is doing. `elsewhere` is a call in another tab. */
export function sentenceOf({ state, ended, elsewhere, isMuted, speaking, isHeard, interim, doing }, said) {
  if (elsewhere) return said.elsewhere;
  if (state !== "active") return state === "idle" && ended ? ended : said.states[state];
  if (isMuted) return said.muted;
  if (interim || isHeard) return said.youSpeak;
  if (speaking) return said.speaks;
  return doing ? said.works : said.states.active;
}
