// Texts and numbers in short, and how an approval is decided by a word: what is put into words
// before a call is shown. Pure functions.

import { words } from "./words.js";

/** Text longer than this is shown cut, with a button for the rest. */
export const SHOWN_CHARS = 4000;

/** `text` on one line, cut after `length` characters. */
export function oneLine(text, length = 140) {
  const line = text
    .slice(0, length * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > length || text.length > length * 4 ? `${line.slice(0, length - 1).trimEnd()}…` : line;
}

/** A size for people. */
export function sizeOf(characters) {
  if (characters < 10_000) return words.short.characters(characters);
  return characters < 1_000_000 ? `${Math.round(characters / 1000)} kB` : `${(characters / 1_000_000).toFixed(1)} MB`;
}

/** A count for a narrow column: 950, 34.1k, 2.2M. */
export function compactNumber(number) {
  if (number < 1000) return String(number);
  const [size, sign] = number < 999_500 ? [1000, "k"] : [1_000_000, "M"];
  return `${(number / size).toFixed(number / size < 99.95 ? 1 : 0)}${sign}`;
}

/** Millionths of a dollar as dollars; `null` is not zero but unknown. */
export function costText(micros) {
  if (micros === null || micros === undefined) return words.short.unknown;
  if (micros === 0) return "$0";
  const dollars = micros / 1_000_000;
  return dollars < 0.0001 ? "< $0.0001" : `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
}

/** The effect of a message on the approval that waits in its conversation, as the server says; nothing if it does not say. */
export function decidingWords(deciding) {
  const { approve = [], deny = [], others_decline: othersDecline } = deciding ?? {};
  if (approve.length === 0) return "";
  const said = words.law.byWord;
  const plain = approve.length > 2 ? "" : ` ${said.noPlainYes}`;
  const others = othersDecline ? ` ${said.othersDecline}` : "";
  return `${said.decides(said.anyOf(inLanguage(approve, said.approve)), said.anyOf(inLanguage(deny, said.deny)))}${plain}${others}`;
}

/** Of the words that decide, those of the page's language; all of them, if it has none. */
function inLanguage(all, own) {
  const known = all.filter((word) => own.includes(word));
  return known.length > 0 ? known : all;
}
