// Markdown from a model to DOM nodes. The text is hostile until proven otherwise: marked parses,
// tags that are not kept are text, DOMPurify keeps the same short list of elements, and what
// remains is looked at once more here. Nothing is ever fetched because a text asked for it.

import "../vendor/dompurify-3.4.18.min.js";
import { words } from "../core/words.js";
import { codeBlock } from "../ui/code.js";
import { Blocks, htmlOf, KEPT } from "./blocks.js";
import { showFormulas } from "./formulas.js";
import { isInlineImage, safeHref } from "./links.js";

const RULES = {
  ALLOWED_TAGS: KEPT,
  ALLOWED_ATTR: ["href", "src", "alt", "title", "align", "colspan", "rowspan", "start", "class"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
};

const HTML = "http://www.w3.org/1999/xhtml";

// The small form of the library exports nothing: it puts itself beside the names of the browser.
const purifier = globalThis.DOMPurify(window);
// Still inside DOMPurify's inert document, where an image with a source fetches nothing: addresses
// are settled before the nodes reach the page.
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

/** A block as safe nodes; one that cannot be made safe is shown as the text it is. An `open` one is still being written. */
function blockOf(token, open) {
  try {
    return purify(htmlOf(token), open);
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
  const allowed = (node) => node.namespaceURI === HTML && KEPT.includes(node.localName);
  if (!(fragment instanceof DocumentFragment)) throw new TypeError("what was made safe is no fragment");
  if (![...fragment.querySelectorAll("*")].every(allowed)) throw new TypeError("what was made safe holds what is not allowed");
  return fragment;
}

/** HTML (also hostile) as safe nodes. Code that is still being written is not coloured: that would read all of it again for each piece. */
function purify(html, open) {
  const fragment = checked(purifier.sanitize(html, RULES));
  for (const image of fragment.querySelectorAll("img:not([src])")) image.replaceWith(linkFor(image));
  for (const table of fragment.querySelectorAll("table")) wrap(table, "table-scroll", { tabindex: 0, role: "group", "aria-label": words.chat.table });
  for (const code of fragment.querySelectorAll("pre > code")) {
    const language = code.className.replace("language-", "");
    code.parentElement.replaceWith(codeBlock(code.textContent.replace(/\n$/, ""), language, { coloured: !open }));
  }
  showFormulas(fragment);
  return fragment;
}

/** A picture from elsewhere becomes a link with its description: looking at a text tells nobody that it was looked at. */
function linkFor(image) {
  const source = image.getAttribute("title") ?? "";
  const href = safeHref(source);
  const label = image.alt || source || words.chat.picture;
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

/**
 * Shows `text` in `host`, block by block. Blocks that did not change since the last call keep their nodes, so that a selection in them
 * survives. A text that `grows` costs only its last block.
 */
export function renderMarkdown(host, text, grows = false) {
  host.markdownReader ??= new Blocks();
  const tokens = host.markdownReader.of(text, grows);
  const known = host.markdownBlocks ?? [];
  const blocks = tokens.map((token, index) => {
    const { raw, type } = token;
    const open = grows && index === tokens.length - 1 && type === "code";
    const old = known[index];
    if (old?.raw === raw && old.type === type && old.open === open) return old;
    const node = old?.node ?? document.createElement("div");
    node.className = "block";
    // A list, a table or a quotation stands as its own text runs, whatever stands around it. A part
    // with a `dir` of its own would not be looked at for that.
    node.dir = "auto";
    node.replaceChildren(blockOf(token, open));
    if (node.parentNode !== host) host.append(node);
    return { raw, type, open, node };
  });
  for (const { node } of known.slice(tokens.length)) node.remove();
  host.markdownBlocks = blocks;
}
