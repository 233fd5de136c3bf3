// The page's own voice as the microphone hears it, and answers that say nothing. Pure.

import { HESITATIONS } from "./hesitations.js";

/** The words of a text, in small letters and without marks. */
export const wordsIn = (text) => text.toLowerCase().normalize("NFKC").match(/[\p{L}\p{N}]+(?:['’][\p{L}\p{N}]+)*/gu) ?? [];

/** True if what was heard only repeats words of `spoken`, one behind the other. */
export function isEcho(heard, spoken) {
  const [said, words] = [wordsIn(spoken), wordsIn(heard)];
  if (words.length === 0 || words.length > said.length) return false;
  return said.some((_, at) => words.every((word, index) => said[at + index] === word));
}

/** So sure must a recogniser be of a sentence, if it says at all how sure it is. */
const SURE = 0.35;

/** True if nobody can tell what was meant: no word, nothing but hesitation, or a recogniser that guessed. */
export function isUnclear(heard, confidence = 0) {
  const words = wordsIn(heard);
  return words.every((word) => HESITATIONS.has(word.replace(/(.)\1+/gu, "$1"))) || (confidence > 0 && confidence < SURE);
}
