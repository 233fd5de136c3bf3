// Text from outside, shown exactly: nothing formatted, nothing cut, and what cannot be seen written
// out. For what a person approves.

import { codeBlock, codeStyles } from "./code.js";
import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { countHidden, diffLines, visiblePieces } from "../core/visible.js";

/** `text` as nodes, with a mark in the place of every character that cannot be seen. */
export function exactNodes(text) {
  return visiblePieces(text).map((piece) => (piece.mark ? markNode(piece) : piece.text));
}

function markNode({ mark, title, turns }) {
  return h("span", { class: turns ? "hidden-character turns" : "hidden-character", title }, mark);
}

/** More lines than this scroll inside their block. */
const LONG_LINES = 300;

/**
 * A block of text, whole, highlighted as `language`; `label` says what it is to those who cannot see the block. With `isCode` characters
 * stand in the order in which they are stored, whatever their direction; other text has to stay readable in its own script.
 */
export function exactBlock(text, language, label, isCode = language !== "" && language !== "json") {
  const block = codeBlock(text, language);
  block.classList.add("exact");
  block.classList.toggle("in-order", isCode);
  block.classList.toggle("long", text.split("\n", LONG_LINES + 1).length > LONG_LINES);
  describe(block.querySelector("pre"), label);
  markWithin(block.querySelector("code"));
  return block;
}

function describe(pre, label) {
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", label);
}

/** Marks what cannot be seen in text that stands there already, between the elements of the highlighter. */
function markWithin(node) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) if (countHidden(walker.currentNode.data) > 0) found.push(walker.currentNode);
  for (const text of found) text.replaceWith(...exactNodes(text.data));
}

/** A unified diff; what was added and removed is told by sign, element and colour. */
export function exactDiff(diff, label) {
  codeStyles();
  const lines = diffLines(diff).map(({ kind, sign, text }) =>
    h(
      kind === "add" ? "ins" : kind === "remove" ? "del" : "span",
      { class: `diff-line ${kind}` },
      h("span", { class: "diff-sign" }, sign || " "),
      h("span", { class: "diff-text" }, exactNodes(text)),
    ),
  );
  const pre = h("pre", { tabindex: "0", dir: "ltr" }, h("code", {}, lines));
  describe(pre, label);
  return h("div", { class: "code exact in-order diff" }, pre);
}

/** A warning when one of `texts` has something in it that would not be seen; otherwise nothing. */
export function hiddenWarning(texts) {
  const count = texts.reduce((sum, text) => sum + countHidden(text), 0);
  if (count === 0) return undefined;
  const places = count === 1 ? words.hidden.one : words.hidden.several(count);
  const example = texts.flatMap(visiblePieces).find((piece) => piece.mark);
  return h(
    "p",
    { class: "hidden-warning", role: "note" },
    h("strong", {}, `${words.hidden.twice} `),
    `${places} ${words.hidden.how} `,
    markNode(example),
    ".",
  );
}
