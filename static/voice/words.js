// The words of calls, loaded with them.

import { wordsOf } from "../core/words.js";

export const said = await wordsOf("voice");

/** The place the sound goes to, in words. */
export function whereWords({ where, host }) {
  const words = said.where[where];
  return typeof words === "function" ? words(host) : (words ?? "");
}
