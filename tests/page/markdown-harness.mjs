// Runs in the browser, for `markdown.test.mjs`: shows every text, looks at what came of it, and
// reports.

import "/chat/answer.js";
import { renderMarkdown } from "/chat/markdown.js";
import { codeNode, loadHighlighter } from "/ui/code.js";
import { FORBIDDEN_ELEMENTS, HOSTILE } from "./hostile.mjs";

const foreign = document.body.dataset.foreign;
let pwned = 0;
window.pwned = () => (pwned += 1);

function show(text) {
  const host = document.createElement("div");
  document.body.append(host);
  renderMarkdown(host, text);
  return host;
}

function lookFor(host) {
  const found = [...host.querySelectorAll(FORBIDDEN_ELEMENTS)].map((node) => node.outerHTML);
  for (const node of host.querySelectorAll("*")) {
    for (const { name, value } of node.attributes) {
      const isAddress = name === "href" || name === "src";
      if (/^on/.test(name)) found.push(`${node.nodeName} ${name}`);
      if (isAddress && !/^(https?:\/\/|mailto:|data:image\/png)/.test(value)) found.push(`${name}=${value}`);
    }
    if (node.nodeName === "A" && node.href && (node.rel !== "noopener noreferrer" || node.target !== "_blank"))
      found.push(node.outerHTML);
  }
  return found;
}

const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Texts that are not hostile: [name, text, a check of the shown nodes]. */
const PLAIN = [
  [
    "text_is_formatted",
    "**a** *b* ~~c~~ `d`",
    (host) => ["strong", "em", "del", "code"].every((tag) => host.querySelector(tag)),
  ],
  [
    "one_tilde_strikes_nothing_out",
    "H~2~O and ~~gone~~",
    (host) => host.textContent.trim() === "H~2~O and gone" && host.querySelectorAll("del").length === 1,
  ],
  [
    "columns_stand_as_the_text_says",
    "| a | b |\n|:-:|---:|\n| 1 | 2 |",
    (host) => {
      const [middle, end] = host.querySelectorAll("td");
      return getComputedStyle(middle).textAlign === "center" && getComputedStyle(end).textAlign === "end";
    },
  ],
  [
    "a_table_can_be_reached_and_has_a_name",
    "| a |\n|---|\n| 1 |",
    (host) => {
      const box = host.querySelector(".table-scroll");
      return box.tabIndex === 0 && box.getAttribute("aria-label") === "Table";
    },
  ],
  [
    "a_link_opens_elsewhere",
    "[x](https://example.com/)",
    (host) =>
      host.querySelector("a").outerHTML ===
      '<a href="https://example.com/" target="_blank" rel="noopener noreferrer">x</a>',
  ],
  [
    "a_bare_address_is_a_link",
    "see https://example.com/a",
    (host) => host.querySelector("a").href === "https://example.com/a",
  ],
  [
    "a_remote_picture_is_a_link_with_its_description",
    "![the cat](https://example.com/c.png)",
    (host) => host.querySelector("a.remote-image").textContent === "the cat" && !host.querySelector("img"),
  ],
  ["a_picture_that_carries_its_bytes_is_shown", `![dot](${PNG})`, (host) => host.querySelector("img").src === PNG],
  [
    "code_is_highlighted_and_kept_letter_by_letter",
    "```js\nconst a = '<b>';\n```",
    (host) => host.querySelector("pre code").textContent === "const a = '<b>';" && host.querySelector(".hljs-keyword"),
  ],
  ["a_table_can_scroll", "| a | b |\n|---|--:|\n| 1 | 2 |", (host) => host.querySelector(".table-scroll > table td")],
  [
    "a_word_without_end_stays_in_its_column",
    `| a | b |\n|---|---|\n| ${"x".repeat(800)} | 1 |\n\nand\n\n| ${"x".repeat(800)} | b |\n|---|---|\n| 1 | 2 |`,
    (host) => host.querySelectorAll("table").length === 2 && [...host.querySelectorAll("td, th")].every((cell) => cell.scrollWidth <= cell.clientWidth),
  ],
  [
    "checkboxes_are_text",
    "- [x] done\n- [ ] open",
    (host) => host.textContent.includes("☑ done") && host.textContent.includes("☐ open"),
  ],
  [
    "each_block_a_list_and_a_table_too_runs_as_its_own_text",
    "שלום\n\nhello\n\n- אחת\n\n  עוד\n- two\n\n| שם | n |\n|---|---|\n| a | 1 |\n\n> ציטוט\n\n1. one\n2. שתיים\n\n```js\nconst a = 1;\n```",
    (host) => {
      const parts = [...host.querySelectorAll(".block > :is(p, ul, ol, blockquote), table, pre")];
      const told = parts.map((part) => `${part.localName} ${getComputedStyle(part).direction}`);
      return told.join() === "p rtl,p ltr,ul rtl,table rtl,blockquote rtl,ol ltr,pre ltr" && host.querySelector("[style]") === null;
    },
  ],
  [
    "a_line_of_a_list_that_runs_the_other_way_begins_at_its_own_side",
    "1. one\n2. שתיים",
    (host) => {
      const middles = [...host.querySelectorAll("li")].map((item) => {
        const range = document.createRange();
        range.selectNodeContents(item);
        const [text, box] = [range.getBoundingClientRect(), item.getBoundingClientRect()];
        return Math.sign((text.left + text.right) / 2 - (box.left + box.right) / 2);
      });
      return middles.join() === "-1,1";
    },
  ],
  [
    "a_tag_that_is_not_kept_is_the_text_that_it_was",
    "Use List<String> and Map<K, V>, replace <your name> and <API_KEY>, then <script>x</script> or <form> and a < b > c.",
    (host) => host.textContent.trim() === "Use List<String> and Map<K, V>, replace <your name> and <API_KEY>, then <script>x</script> or <form> and a < b > c." && host.querySelectorAll("p").length === 1,
  ],
  [
    "a_block_that_begins_with_a_tag_that_is_not_kept_is_text_too",
    "<!DOCTYPE html>\n\n<!-- a\n**note** -->\n\n<your name>\n<b>&lt;</b>\n\n- <form>\n\n<script>\n\nif (a < 1) $b$;\n</script>\n\n<?php x ?>",
    (host) => {
      const lines = [...host.querySelectorAll("p")].map((node) => node.innerText);
      return lines.join("|") === "<!DOCTYPE html>|<!-- a\n**note** -->|<your name>\n<b>&lt;</b>|<form>|<script>\n\nif (a < 1) $b$;\n</script>|<?php x ?>";
    },
  ],
  [
    "a_paragraph_with_a_comment_and_what_looks_like_a_tag_is_shown",
    "AAA <!-- c --> x &lt;b&gt;\n\nIt begins with <!-- and ends with -->. text <!-- a\nb --> c",
    (host) => host.innerText.trim() === "AAA <!-- c --> x <b>\n\nIt begins with <!-- and ends with -->. text <!-- a\nb --> c",
  ],
  [
    "within_html_that_is_kept_other_tags_are_text_as_well",
    "<table><tr><td>List<String> <form>x</form></td></tr></table>\n\n<p>an <your name> <!-- note --></p>\n\na <code><T> <script <b>c</b></code> <B>d</B><br/>e",
    (host) => {
      const [cell, text] = [host.querySelector("td"), host.querySelector(".block > p")];
      return cell.textContent === "List<String> <form>x</form>" && text.textContent === "an <your name> <!-- note -->" && host.querySelector("code").textContent === "<T> <script c" && host.querySelectorAll("b").length === 2 && host.querySelector("br");
    },
  ],
  ["a_single_line_break_is_kept", "a\nb", (host) => host.querySelector("br")],
  [
    "a_block_that_did_not_change_keeps_its_nodes",
    "# One\n\ntwo",
    (host) => {
      const heading = host.querySelector("h1");
      renderMarkdown(host, "# One\n\ntwo three\n\nfour");
      const grown = host.querySelector("h1") === heading && host.querySelectorAll("p").length === 2;
      renderMarkdown(host, "other");
      return grown && host.textContent.trim() === "other";
    },
  ],
  [
    "an_answer_that_nothing_recorded_shows_carries_a_mark_that_explains_itself",
    "",
    () => {
      const message = document.createElement("l3-assistant");
      document.body.append(message);
      const row = { content: "Done!", final: true, unproven: true, streaming: false, partial: false };
      const words = () => message.querySelector("[data-testid=unproven] summary")?.textContent;
      message.data = row;
      const marked = words() === "No recorded effect in this turn" && message.querySelector("summary").title.includes("may be wrong");
      message.data = { ...row, final: false };
      const takenBack = words() === "Taken back: no recorded effect";
      message.data = { ...row, unproven: false };
      return marked && takenBack && words() === undefined && message.querySelector(".markdown").textContent.trim() === "Done!";
    },
  ],
];

/** Code that was there before the highlighter is coloured when that comes, and what was made of it meanwhile stays. */
async function beforeTheHighlighter() {
  const [early, marked] = [codeNode("const a = 1;", "js"), codeNode("const b = 2;", "js")];
  marked.replaceChildren("const b", document.createElement("mark"));
  const before = early.textContent === "const a = 1;" && early.childElementCount === 0;
  await loadHighlighter();
  await new Promise((resolve) => setTimeout(resolve, 0));
  return before && early.querySelector(".hljs-keyword") !== null && early.textContent === "const a = 1;" && marked.querySelector("mark") !== null;
}

/** The parts of a formula are as wide in a narrow column as in a wide one: cells that shrink show other numbers. */
async function inANarrowColumn() {
  const row = [1200, 3400, 5600, 7800, 9100, 2300, 4500].join(" & ");
  const widths = [];
  for (const width of [200, 4000]) {
    const host = document.createElement("div");
    host.className = "markdown";
    host.style.width = `${width}px`;
    document.body.append(host);
    renderMarkdown(host, `$$\\begin{pmatrix}${row}\\\\${row}\\end{pmatrix}$$`);
    for (let tries = 0; tries < 1200 && !host.querySelector("math"); tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
    widths.push([...host.querySelectorAll("mtd, mn")].map((node) => Math.round(node.getBoundingClientRect().width)).join());
  }
  const scrolls = document.querySelector("math[display=block]");
  return { name: "no_part_of_a_formula_shrinks_in_a_narrow_column", ok: widths[0] === widths[1] && widths[0].split(",").length === 28 && scrolls.scrollWidth > 200, detail: widths.join(" and ") };
}

async function run() {
  const narrow = await inANarrowColumn();
  const early = { name: "code_before_the_highlighter_is_coloured_when_it_comes", ok: await beforeTheHighlighter() };
  const hostile = Object.entries(HOSTILE).map(([name, text]) => ({
    name,
    found: lookFor(show(text.replaceAll("FOREIGN", foreign))),
  }));
  // As it is written: each beginning of a text is shown on the way.
  for (const hostileText of Object.values(HOSTILE)) {
    const host = show("");
    const text = hostileText.replaceAll("FOREIGN", foreign);
    for (let end = 1; end <= text.length; end += 3) renderMarkdown(host, text.slice(0, end));
  }
  const plain = PLAIN.map(([name, text, check]) => {
    const host = show(text);
    return { name, ok: Boolean(check(host)), detail: host.innerHTML };
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const before = pwned;
  // The counterproof: the same text without markdown.js does run here.
  const control = document.createElement("div");
  document.body.append(control);
  control.innerHTML = HOSTILE["image with a handler"];
  for (let wait = 0; wait < 1200 && pwned === before; wait++) await new Promise((resolve) => setTimeout(resolve, 50));
  return { hostile, plain: [early, narrow, ...plain], pwned: before, control: { ran: pwned > before } };
}

const report = await run().catch((error) => ({ failure: String(error.stack) }));
await fetch("/report", { method: "POST", body: JSON.stringify(report) });
