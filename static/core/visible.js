// Makes visible what text can hide: characters that change the direction of what follows, that take
// no room, or that look like nothing. Source that is approved must read the way it runs. Pure, so
// that it is tested without a browser.

import { words } from "./words.js";

const NAMES = {
  0x00ad: "SOFT HYPHEN",
  0x061c: "ARABIC LETTER MARK",
  0x200b: "ZERO WIDTH SPACE",
  0x200c: "ZERO WIDTH NON-JOINER",
  0x200d: "ZERO WIDTH JOINER",
  0x200e: "LEFT-TO-RIGHT MARK",
  0x200f: "RIGHT-TO-LEFT MARK",
  0x2028: "LINE SEPARATOR",
  0x2029: "PARAGRAPH SEPARATOR",
  0x202a: "LEFT-TO-RIGHT EMBEDDING",
  0x202b: "RIGHT-TO-LEFT EMBEDDING",
  0x202c: "POP DIRECTIONAL FORMATTING",
  0x202d: "LEFT-TO-RIGHT OVERRIDE",
  0x202e: "RIGHT-TO-LEFT OVERRIDE",
  0x2060: "WORD JOINER",
  0x2066: "LEFT-TO-RIGHT ISOLATE",
  0x2067: "RIGHT-TO-LEFT ISOLATE",
  0x2068: "FIRST STRONG ISOLATE",
  0x2069: "POP DIRECTIONAL ISOLATE",
  0x2800: "BRAILLE PATTERN BLANK",
  0x3164: "HANGUL FILLER",
  0xfeff: "ZERO WIDTH NO-BREAK SPACE",
};

/** Turns the direction of text; the rest of what is marked is merely not to be seen. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/**
 * Blanks that push text far away: a hundred spaces, twenty empty lines. Controls (but not tab and the ends of lines), all default-ignorable characters but the emoji's own variation selector, the two
 * blanks that are letters, other separators of lines, and halves of characters.
 */
const HIDDEN =
  / {100,}|(?:\r?\n[ \t]*){20,}|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u2800\ufff9-\ufffb]|\r(?!\n)|(?!\ufe0f)\p{Default_Ignorable_Code_Point}|\p{Surrogate}/gu;

/** `text` in pieces: `{ text }` as it is, and `{ mark, title, turns }` for a character that would not be seen. */
export function visiblePieces(text) {
  const pieces = [];
  let start = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > start) pieces.push({ text: text.slice(start, found.index) });
    const [character] = found;
    pieces.push(...markOf(character));
    start = found.index + character.length;
  }
  if (start < text.length || pieces.length === 0) pieces.push({ text: text.slice(start) });
  return pieces;
}

function markOf(found) {
  if (found.startsWith(" ")) return [{ mark: words.hidden.spaces(found.length), title: words.hidden.written, turns: false }];
  const lines = found.split("\n").length - 1;
  // The text goes on in a line of its own with its own indentation, as it does in the file.
  const last = { text: found.slice(found.lastIndexOf("\n")) };
  if (lines > 1) return [{ mark: words.hidden.lines(lines - 1), title: words.hidden.written, turns: false }, last];
  const code = found.codePointAt(0);
  const mark = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return [{ mark, title: NAMES[code] ?? words.hidden.unnamed, turns: DIRECTION.test(found) }];
}

/** How often `text` has something in it that would not be seen. */
export function countHidden(text) {
  return text.match(HIDDEN)?.length ?? 0;
}

/** `text` on which every such character is written as `⟨U+202E⟩`, for places without markup. */
export function plainVisible(text) {
  return visiblePieces(text)
    .map((piece) => piece.text ?? `⟨${piece.mark}⟩`)
    .join("");
}

const PLACE = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * The lines of a unified diff, or of several one after the other: `{ kind: "add" | "remove" | "same" | "place" | "note", sign, text }`.
 * How many lines belong to a place is said in it; a removed line that begins with "--" is none of the names above the next place.
 */
export function diffLines(diff) {
  const lines = diff.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let before = 0;
  let after = 0;
  return lines.map((line) => {
    if (line.startsWith("\\")) return { kind: "note", sign: "", text: line };
    if (before <= 0 && after <= 0) {
      const place = PLACE.exec(line);
      if (place) [before, after] = [Number(place[1] ?? 1), Number(place[2] ?? 1)];
      return { kind: "place", sign: "", text: line };
    }
    const text = line.slice(1);
    if (!line.startsWith("+")) before -= 1;
    if (!line.startsWith("-")) after -= 1;
    if (line.startsWith("+")) return { kind: "add", sign: "+", text };
    if (line.startsWith("-")) return { kind: "remove", sign: "−", text };
    return { kind: "same", sign: "", text };
  });
}
