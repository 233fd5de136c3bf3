// Text as it is written, made fit to be spoken: without Markdown, emoji, addresses and code. Pure.

import { createCutter, pieces } from "./sentences.js";

const FENCE = "\x60\x60\x60";

/** A sentence in words that one can say. `said` has `link`, `code` and `number(n)`. */
export function speakable(text, said) {
  return text
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/<?\b(?:https?:\/\/|www\.)[^\s<>)]*[^\s<>).,!?;:]>?/gi, said.link)
    .replace(/^\s*\|?[\s:|-]*-{3,}[\s:|-]*\|?\s*$/gm, "")
    .replace(/^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?)/gm, "")
    .replace(/\s*\|\s*/g, ", ")
    .replace(/\x60+([^\x60]*)\x60+/g, "$1")
    .replace(/(\*\*\*|\*\*|__|~~|\*)(?=\S)([\s\S]*?\S)\1/g, "$2")
    .replace(/(^|[\s(])_(\S[^_]*)_(?=[\s).,!?;:]|$)/g, "$1$2")
    .replace(/[0-9#*]\uFE0F?\u20E3/gu, "")
    .replace(/[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\u200D\uFE0E\uFE0F\u20E3]+/gu, "")
    .replace(/(^|\s)#(\d+)\b/g, (_, before, number) => before + said.number(number))
    .replace(/[*\x60~|]+/g, "")
    .replace(/\s+/g, " ")
    .replace(/\s+([,.!?;:…])/g, "$1")
    .replace(/^[\s,;:]+|\s+$/g, "");
}

/** As `createCutter`, for an answer in Markdown: sentences that can be spoken. A block of code is one short sentence. */
export function createSpeech(lang, said) {
  // An address that is cut is none, so what is long is cut when it is clean.
  const cutter = createCutter(lang, (sentence) => [sentence]);
  let held = "";
  let isCode = false;
  const clean = (sentences) => sentences.map((text) => speakable(text, said)).filter((text) => /[\p{L}\p{N}]/u.test(text)).flatMap(pieces);

  function take(isWhole) {
    const all = [];
    for (let at = held.indexOf(FENCE); at >= 0; at = held.indexOf(FENCE)) {
      if (!isCode) all.push(...clean([...cutter.push(held.slice(0, at)), ...cutter.flush()]));
      else all.push(said.code);
      held = held.slice(at + FENCE.length);
      isCode = !isCode;
    }
    // A fence may come in pieces.
    const keep = isWhole ? 0 : (/\x60{1,2}$/.exec(held)?.[0].length ?? 0);
    const text = held.slice(0, held.length - keep);
    held = isCode ? held : held.slice(text.length);
    if (!isCode) all.push(...clean(cutter.push(text)));
    return all;
  }

  return {
    push(text) {
      held += text;
      return take(false);
    },
    flush() {
      const all = take(true);
      if (isCode) all.push(said.code);
      [held, isCode] = ["", false];
      return [...all, ...clean(cutter.flush())];
    },
  };
}

/** The sentences of a whole text, as `createSpeech` cuts it. */
export function sentencesOf(text, lang, said) {
  const speech = createSpeech(lang, said);
  return [...speech.push(text), ...speech.flush()];
}
