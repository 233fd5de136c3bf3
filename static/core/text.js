// Texts in short, and how an approval is decided by a word: what is put into words before a call is
// shown. Pure functions.

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
