// Code on the page: highlighted when it is short enough, with a button to copy it.

import highlighter from "./vendor/highlight-11.12.0.es.min.js";
import { h } from "./dom.js";

/** Highlighting longer text would hold up the page. */
const HIGHLIGHT_CHARS = 30_000;
/** About the size of one screen or two. */
const CHUNK_CHARS = 8_000;

/** A `<code>` with `text` in it, highlighted as `language` where that is known. */
export function codeNode(text, language) {
  const code = h("code");
  if (language && text.length <= HIGHLIGHT_CHARS && highlighter.getLanguage(language)) {
    // The highlighter escapes the text; all it adds is <span class="hljs-…">.
    code.innerHTML = highlighter.highlight(text, { language, ignoreIllegals: true }).value;
  } else {
    code.append(...chunks(text));
  }
  return code;
}

/**
 * `text` as nodes. Very long text comes in chunks that the browser lays out only when they come into sight; laid out as one
 * piece, a megabyte takes seconds.
 */
export function chunks(text) {
  if (text.length <= CHUNK_CHARS * 2) return [text];
  const nodes = [];
  for (let start = 0; start < text.length;) {
    // A chunk ends with a line where there is one, so that no line is broken that was not.
    const newline = text.indexOf("\n", start + CHUNK_CHARS);
    let end = newline !== -1 && newline < start + CHUNK_CHARS * 2 ? newline + 1 : start + CHUNK_CHARS;
    // Nor is a character broken that takes two code units.
    if (text.codePointAt(end - 1) > 0xffff) end += 1;
    nodes.push(h("span", { class: "chunk" }, text.slice(start, end)));
    start = end;
  }
  return nodes;
}

/** A block of code with its language and a copy button. */
export function codeBlock(text, language) {
  const known = language && highlighter.getLanguage(language);
  const name = known?.name && known.name.length < 20 ? language : language ? language.slice(0, 20) : "";
  const pre = h("pre", { tabindex: "0", dir: "ltr" }, codeNode(text, language));
  return h("div", { class: "code" }, h("div", { class: "code-bar" }, h("span", {}, name), copyButton(text)), pre);
}

function copyButton(text) {
  // The clipboard exists only in secure contexts; localhost is one.
  if (!navigator.clipboard) return "";
  const button = h("button", { type: "button", class: "quiet" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  return button;
}
