// The blocks of a Markdown text. Of a text that grows, blocks that nothing can change any more are
// not read again: a long answer costs at its end what it cost at its beginning. No DOM here.

import { Marked } from "../vendor/marked-18.2.1.esm.js";
import { escaped, FORMULAS } from "./formulas.js";

/** The elements of HTML that a text may have. Any other tag is words: `List<String>`, `<your name>`. */
export const KEPT = "a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i img kbd li mark ol p pre s strong sub sup table tbody td th thead tr u ul".split(" ");
const KEPT_TAG = String.raw`</?(?:${KEPT.join("|")})(?=[\s/>])`;
const BEGINS_WITH_KEPT = new RegExp(`^ {0,3}${KEPT_TAG}`, "i");
const NOT_KEPT = new RegExp(`(?!${KEPT_TAG})<`, "gi");

/** The reader and writer of Markdown, with the page's own rules. */
const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: { checkbox: ({ checked }) => (checked ? "☑ " : "☐ "), html: (token) => htmlBlock(token) },
  tokenizer: { del: struckOut, tag: keptTag },
  extensions: FORMULAS,
});

/** Text between two tildes on each side. With one on each side, as marked takes it too, `H~2~O` loses its two. */
function struckOut(source) {
  const match = /^~~(?=[^\s~])([\s\S]*?[^\s~])~~(?=[^~]|$)/.exec(source);
  if (!match) return undefined;
  const [raw, text] = match;
  return { type: "del", raw, text, tokens: this.lexer.inlineTokens(text) };
}

/** HTML as it was written if its first tag is kept; any other is a paragraph of plain lines, without Markdown. */
const htmlBlock = ({ text }) => (BEGINS_WITH_KEPT.test(text) ? text : `<p>${escaped(text.trim()).replaceAll("\n", "<br>")}</p>`);

/** A tag within a line: marked's own reading, or the text that it is, up to the end of its line. */
function keptTag(source) {
  if (BEGINS_WITH_KEPT.test(source)) return false;
  const [raw] = this.rules.inline.tag.exec(source)?.[0].split("\n") ?? [];
  return raw && { type: "text", raw, text: raw };
}

/** HTML for a block, in which no tag is another than those that are kept: within HTML, too, others are text. */
export const htmlOf = (token) => marked.parser([token]).replace(NOT_KEPT, "&lt;");

/** The blocks of a text. If it cannot be read as Markdown (nested too deep), all of it is one. */
function blocksOf(text) {
  try {
    return marked.lexer(text);
  } catch (error) {
    console.error("a text cannot be read as Markdown", error);
    return [{ type: "as-text", raw: text }];
  }
}

const isShown = ({ type }) => type !== "space" && type !== "def";
/** Behind one of these another block begins, whatever it is. */
const ENDS = new Set(["space", "heading", "hr"]);
/** A formula over several lines may have begun here, and go on over empty ones. */
const MAY_GO_ON = /^(?:\$\$|\\\[)/m;

/** One text over time. */
export class Blocks {
  /** The text whose blocks are finished, and these blocks. */
  finished = "";
  blocks = [];
  /** How many characters were read so far, over all calls. */
  readChars = 0;

  /** The blocks of `text` that are shown. If it `grows`, what is finished of it is kept for the next call. */
  of(text, grows = false) {
    const lines = text.includes("\r") ? text.replace(/\r\n|\r/g, "\n") : text;
    if (!grows || !lines.startsWith(this.finished)) this.forget();
    const read = this.read(lines.slice(this.finished.length));
    if (!grows) return read.filter(isShown);
    // An address that is given at the end belongs to links anywhere before it.
    if (read.some(({ type }) => type === "def")) {
      this.forget();
      return this.read(lines).filter(isShown);
    }
    const all = [...this.blocks, ...read.filter(isShown)];
    this.finish(lines, read);
    return all;
  }

  read(text) {
    this.readChars += text.length;
    return blocksOf(text);
  }

  forget() {
    this.finished = "";
    this.blocks = [];
  }

  /** Keeps what stands before the last block that begins anew. Before that, text to come may still become part of it. */
  finish(lines, read) {
    let at = this.finished.length;
    let end = { count: 0, at };
    for (const [index, { type, raw }] of read.entries()) {
      if (index > 0 && isShown({ type }) && ENDS.has(read[index - 1].type)) end = { count: index, at };
      // The reader puts some pieces together, and what it says of them is not what stands there.
      if (!lines.startsWith(raw, at) || (type === "paragraph" && MAY_GO_ON.test(raw))) break;
      at += raw.length;
    }
    this.blocks = [...this.blocks, ...read.slice(0, end.count).filter(isShown)];
    this.finished = lines.slice(0, end.at);
  }
}
