// Code on the page: highlighted when it is short enough, with a button to copy it.

import { h } from "../core/dom.js";
import { styles } from "../core/styles.js";
import { words } from "../core/words.js";

/** Highlighting longer text would hold up the page. */
const HIGHLIGHT_CHARS = 30_000;
/** About the size of one screen or two. */
const CHUNK_CHARS = 8_000;

let highlighter;
let loading;

/** Loads the highlighter, which the first code on the page asks for. A page without it shows code in one colour. */
export function loadHighlighter() {
  loading ??= import("../vendor/highlight-11.12.0.es.min.js").then(
    (module) => (highlighter = module.default),
    () => undefined,
  );
  return loading;
}

let styled = false;

/** The styles of code come with the first code on the page. */
export function codeStyles() {
  if (!styled) styles(import.meta.url, "code.css");
  styled = true;
}

/** A `<code>` with `text` in it, highlighted as `language` where that is known, at once or when the highlighter is there. */
export function codeNode(text, language) {
  codeStyles();
  const code = h("code");
  if (language && text.length <= HIGHLIGHT_CHARS) {
    if (highlight(code, text, language)) return code;
    if (!highlighter) loadHighlighter().then(() => isPlain(code, text) && highlight(code, text, language));
  }
  code.append(...chunks(text));
  return code;
}

function highlight(code, text, language) {
  if (!highlighter?.getLanguage(language)) return false;
  // The highlighter escapes the text; all it adds is <span class="hljs-…">.
  code.innerHTML = highlighter.highlight(text, { language, ignoreIllegals: true }).value;
  return true;
}

/** True if nothing else was made of it meanwhile, such as marks for characters that cannot be seen. */
function isPlain(code, text) {
  return code.childElementCount === 0 && code.textContent === text;
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
export function codeBlock(text, language, { coloured = true } = {}) {
  const name = (language ?? "").slice(0, 20);
  const pre = h("pre", { tabindex: "0", dir: "ltr" }, codeNode(text, coloured ? language : ""));
  return h("div", { class: "code" }, h("div", { class: "code-bar" }, h("span", {}, name), wrapButton(text, pre), copyButton(text)), pre);
}

/** Long lines go on in the next one, on request. Code whose lines are short has no such button. */
const LONG_LINE = 72;

function wrapButton(text, pre) {
  if (!new RegExp(`^.{${LONG_LINE}}`, "m").test(text.slice(0, HIGHLIGHT_CHARS))) return "";
  const button = h("button", { type: "button", class: "quiet wrap", "aria-pressed": "false" }, words.code.wrap);
  button.addEventListener("click", () => button.setAttribute("aria-pressed", String(pre.classList.toggle("wraps"))));
  return button;
}

function copyButton(text) {
  // The clipboard exists only in secure contexts; localhost is one.
  if (!navigator.clipboard) return "";
  const button = h("button", { type: "button", class: "quiet" }, words.code.copy);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = words.code.copied;
    } catch {
      button.textContent = words.code.notCopied;
    }
    setTimeout(() => (button.textContent = words.code.copy), 1500);
  });
  return button;
}
