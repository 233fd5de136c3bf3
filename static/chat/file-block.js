// A file in a message: a block of plain text, which the model reads, shown to a person as a file
// again.

import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { cutText } from "./cut-text.js";

const LANGUAGES = new Map(Object.entries({ csv: "csv", tsv: "csv", json: "json", md: "markdown" }));

/** The parts of a message: `{ text }` and `{ name, text }` of a file. */
export function partsOf(content) {
  const parts = [];
  const block = /(?:^|\n\n)(\x60{3,})file "([^"\n]{1,100})"\n([\s\S]*?)\n\1(?=\n\n|$)/g;
  let start = 0;
  for (const found of content.matchAll(block)) {
    if (found.index > start) parts.push({ text: content.slice(start, found.index) });
    parts.push({ name: found[2], text: found[3] });
    start = found.index + found[0].length;
  }
  if (start < content.length || parts.length === 0) parts.push({ text: content.slice(start) });
  return parts;
}

/** A message of a person as nodes: text as text, a file as a line that opens. */
export function messageNodes(content) {
  return partsOf(content).flatMap(({ name, text }) => (name === undefined ? cutText(text, (shown) => h("span", {}, shown)) : [fileNode(name, text)]));
}

function fileNode(name, text) {
  const lines = words.chat.fileLines(text ? text.split("\n").length : 0);
  const node = h("details", { class: "file", "data-testid": "file" }, h("summary", {}, h("bdi", {}, name), h("span", { class: "file-size" }, lines)));
  const fill = async () => {
    const { codeBlock } = await import("../ui/code.js");
    node.append(...cutText(text, (shown) => codeBlock(shown, LANGUAGES.get(name.split(".").at(-1).toLowerCase()) ?? "")));
  };
  node.addEventListener("toggle", fill, { once: true });
  return node;
}
