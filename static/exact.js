// Text from outside, shown exactly: nothing formatted, nothing cut, and what cannot be seen written out. For what a person approves.

import { codeBlock } from "./code.js";
import { h } from "./dom.js";
import { countHidden, diffLines, visiblePieces } from "./visible.js";

/** `text` as nodes, with a mark in the place of every character that cannot be seen. */
export function exactNodes(text) {
  return visiblePieces(text).map((piece) => (piece.mark ? markNode(piece) : piece.text));
}

function markNode({ mark, title, turns }) {
  return h("span", { class: turns ? "hidden-character turns" : "hidden-character", title }, mark);
}

/** A block of code, whole and highlighted; `label` says what it is to those who cannot see the block. */
export function exactBlock(text, language, label) {
  const block = codeBlock(text, language);
  block.classList.add("exact");
  describe(block.querySelector("pre"), label);
  markWithin(block.querySelector("code"));
  return block;
}

function describe(pre, label) {
  pre.setAttribute("role", "region");
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
  return h("div", { class: "code exact diff" }, pre);
}

/** A warning when one of `texts` holds characters that cannot be seen; otherwise nothing. */
export function hiddenWarning(texts) {
  const count = texts.reduce((sum, text) => sum + countHidden(text), 0);
  if (count === 0) return undefined;
  const said =
    count === 1
      ? "One character here cannot be seen or turns the direction of text. It is written out as "
      : `${count} characters here cannot be seen or turn the direction of text. They are written out, like `;
  const example = texts.flatMap(visiblePieces).find((piece) => piece.mark);
  return h("p", { class: "hidden-warning", role: "note" }, h("strong", {}, "Look twice. "), said, markNode(example), ".");
}
