// Markdown from a model to DOM nodes. The text is hostile until proven otherwise: marked parses, DOMPurify keeps a short list
// of elements, and what remains is looked at once more here. Nothing is ever fetched because a text asked for it.

import createDOMPurify from "./vendor/dompurify-3.4.18.es.js";
import { Marked } from "./vendor/marked-18.2.1.esm.js";
import { codeBlock } from "./code.js";
import { isInlineImage, safeHref } from "./links.js";

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: { checkbox: ({ checked }) => (checked ? "☑ " : "☐ ") },
  tokenizer: { del: struckOut },
});

/** Text between two tildes on each side. With one on each side, as marked takes it too, `H~2~O` loses its two. */
function struckOut(source) {
  const match = /^~~(?=[^\s~])([\s\S]*?[^\s~])~~(?=[^~]|$)/.exec(source);
  if (!match) return undefined;
  const [raw, text] = match;
  return { type: "del", raw, text, tokens: this.lexer.inlineTokens(text) };
}

const RULES = {
  ALLOWED_TAGS: [
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "s",
    "strong",
    "sub",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
  ],
  ALLOWED_ATTR: ["href", "src", "alt", "title", "align", "colspan", "rowspan", "start", "class"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

const HTML = "http://www.w3.org/1999/xhtml";

const purifier = createDOMPurify(window);
// Still inside DOMPurify's inert document, where an image with a source fetches nothing: addresses are settled before the
// nodes reach the page.
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName === "IMG") {
    const source = node.getAttribute("src") ?? "";
    if (isInlineImage(source)) return;
    node.removeAttribute("src");
    node.setAttribute("title", source);
  } else if (node.nodeName === "A") {
    const href = safeHref(node.getAttribute("href"));
    if (href === undefined) node.removeAttribute("href");
    else setLink(node, href);
  }
  const name = node.getAttribute?.("class");
  if (name && !(node.nodeName === "CODE" && /^language-[\w+#.-]{1,30}$/.test(name))) node.removeAttribute("class");
});

function setLink(node, href) {
  node.setAttribute("href", href);
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
}

/** A block as safe nodes; one that cannot be made safe is shown as the text it is. */
function blockOf(token) {
  try {
    return purify(marked.parser([token]));
  } catch (error) {
    console.error("a block of a text cannot be shown but as text", error);
    return asText(token.raw);
  }
}

function asText(text) {
  const node = document.createElement("pre");
  node.className = "as-text";
  node.dir = "auto";
  node.textContent = text;
  return node;
}

/** Throws where DOMPurify gave anything but a fragment of allowed elements: some texts (`<frameset>`) leave it without a body. */
function checked(fragment) {
  const allowed = (node) => node.namespaceURI === HTML && RULES.ALLOWED_TAGS.includes(node.localName);
  if (!(fragment instanceof DocumentFragment)) throw new TypeError("what was made safe is no fragment");
  if (![...fragment.querySelectorAll("*")].every(allowed)) throw new TypeError("what was made safe holds what is not allowed");
  return fragment;
}

/** HTML (also hostile) as safe nodes. */
function purify(html) {
  const fragment = checked(purifier.sanitize(html, RULES));
  for (const image of fragment.querySelectorAll("img:not([src])")) image.replaceWith(linkFor(image));
  for (const table of fragment.querySelectorAll("table")) wrap(table, "table-scroll", { tabindex: 0, role: "region", "aria-label": "Table" });
  for (const code of fragment.querySelectorAll("pre > code")) {
    const language = code.className.replace("language-", "");
    code.parentElement.replaceWith(codeBlock(code.textContent.replace(/\n$/, ""), language));
  }
  for (const part of fragment.querySelectorAll("p, li, h1, h2, h3, h4, h5, h6, td, th, blockquote")) part.dir = "auto";
  return fragment;
}

/** A picture from elsewhere becomes a link with its description: looking at a text tells nobody that it was looked at. */
function linkFor(image) {
  const source = image.getAttribute("title") ?? "";
  const href = safeHref(source);
  const label = image.alt || source || "picture";
  const inLink = image.closest("a[href]") !== null;
  const node = document.createElement(href && !inLink ? "a" : "span");
  if (href && !inLink) setLink(node, href);
  node.className = "remote-image";
  node.textContent = label;
  return node;
}

function wrap(node, className, attributes) {
  const box = document.createElement("div");
  box.className = className;
  for (const [name, value] of Object.entries(attributes)) box.setAttribute(name, value);
  node.replaceWith(box);
  box.append(node);
}

/** The blocks of a text; where it cannot be read as Markdown (nested too deep), all of it is one. */
function blocksOf(text) {
  try {
    return marked.lexer(text);
  } catch (error) {
    console.error("a text cannot be read as Markdown", error);
    return [{ type: "as-text", raw: text }];
  }
}

/**
 * Shows `text` in `host`, block by block. Blocks that did not change since the last call keep their nodes, so a long answer
 * that grows costs only its last block, and a selection in the rest survives.
 */
export function renderMarkdown(host, text) {
  const tokens = blocksOf(text).filter((token) => token.type !== "space" && token.type !== "def");
  const known = host.markdownBlocks ?? [];
  const blocks = [];
  tokens.forEach((token, index) => {
    const old = known[index];
    if (old && old.raw === token.raw && old.type === token.type) {
      blocks.push(old);
      return;
    }
    const node = old?.node ?? document.createElement("div");
    node.className = "block";
    node.replaceChildren(blockOf(token));
    if (!node.isConnected) host.append(node);
    blocks.push({ raw: token.raw, type: token.type, node });
  });
  for (const { node } of known.slice(tokens.length)) node.remove();
  host.markdownBlocks = blocks;
}
