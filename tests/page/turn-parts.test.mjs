// The parts of a turn that a person reads, copies and keeps, in a real browser: its foot, code,
// files, the timeline of its steps, and the rows of a query.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { callFrames, serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const options = { skip, timeout: 120_000 };
const ENTER = "\uE007";
const CODE = `const names = ["${"a name that is long, ".repeat(12)}"];\nconsole.log(names);`;
const FENCE = "\x60\x60\x60";
const ANSWER = `Here it is:\n\n${FENCE}js\n${CODE}\n${FENCE}`;
const ARGS = { n: 4, style: "classic", deep: { a: [1, 2] } };
/** A table that is wider and taller than its place; one row has no name. */
const COLUMNS = ["name", ...Array.from({ length: 11 }, (_, at) => `figure_${at + 1}`)];
const ROWS = Array.from({ length: 60 }, (_, row) => COLUMNS.map((_, column) => (column === 0 ? (row === 1 ? null : `Row ${row}`) : row * 100 + column)));
const RECORDS = ROWS.map((row) => Object.fromEntries(row.map((value, at) => [COLUMNS[at], value])));
const csvOf = (rows) => [COLUMNS, ...rows].map((row) => `${row.map((value) => value ?? "").join()}\r\n`).join("");

const frames = () => [
  ...turnFrames(1, "Show me the rows.", ANSWER, [
    ...callFrames(1, 1, { result: JSON.stringify(RECORDS), columns: COLUMNS.map((name, at) => ({ name, type: at === 0 ? "text" : "int4" })), total: 60, said: "It gave 60 rows.", ms: 12 }),
    ...callFrames(1, 2, { name: "write_capability", args: { name: "roman", code: "export default () => 1;" }, result: "{}", said: "Wrote it.", ms: 1234 }),
    ...callFrames(1, 3, { name: "manage_tasks", args: { action: "list" }, result: "[]", said: "It gave 0 tasks.", ms: 75_000 }),
    ...callFrames(1, 4, { name: "roman", args: ARGS, result: '"IV"', said: "roman was called.", ms: 0 }),
  ]),
];

let browser;
let server;
let folder;
before(async () => {
  if (skip) return;
  browser = await startBrowser();
  await browser.size(1280, 900);
  await browser.media({ "prefers-reduced-motion": "reduce" });
  server = await serveTalk(frames());
  folder = mkdtempSync(join(tmpdir(), "level3-saved-"));
  await browser.cdp("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
});
after(async () => {
  await browser?.end();
  server?.end();
  if (folder) rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  if (skip) return;
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  await is(`document.querySelector("l3-foot") !== null && document.querySelector(".markdown .code") !== null`);
  await browser.js(`navigator.clipboard.writeText = async (text) => { if (window.refuses) throw new DOMException("no", "NotAllowedError"); window.copied = text; }`);
});

const is = (script, ...all) => browser.waitFor(`return ${script}`, ...all);
const click = (css) => browser.js(`document.querySelector(arguments[0]).click()`, css);
const copied = () => browser.js(`return window.copied`);
/** Presses what has these words, in what the selector names. */
const pressWords = (css, text) => browser.js(`[...document.querySelectorAll(arguments[0])].find((node) => node.innerText === arguments[1]).click()`, css, text);

test("the_foot_copies_the_answer_as_it_was_written_and_says_so", options, async () => {
  await click("[data-testid=turn-copy]");
  await is(`document.querySelector("l3-foot [role=status]")?.innerText === "Copied"`);
  assert.equal(await copied(), ANSWER);
  await is(`document.querySelector("l3-foot [role=status]") === null`);
  await browser.js(`window.refuses = true`);
  await click("[data-testid=turn-copy]");
  await is(`document.querySelector("l3-foot [role=status]")?.innerText === "Not allowed"`);
});

test("code_is_copied_whole_and_its_long_lines_wrap_on_a_press", options, async () => {
  assert.equal(await browser.js(`return document.querySelector(".markdown .code-bar > span").innerText`), "js");
  const wide = () => browser.js(`const pre = document.querySelector(".markdown .code pre"); return { wide: pre.scrollWidth > pre.clientWidth + 1, pressed: document.querySelector(".markdown .code .wrap").getAttribute("aria-pressed") }`);
  // Its style comes with the first code.
  await is(`getComputedStyle(document.querySelector(".markdown .code")).overflow === "hidden"`);
  assert.deepEqual(await wide(), { wide: true, pressed: "false" });
  await click(".markdown .code .wrap");
  assert.deepEqual(await wide(), { wide: false, pressed: "true" });
  await click(".markdown .code .wrap");
  assert.deepEqual(await wide(), { wide: true, pressed: "false" });
  await pressWords(".markdown .code button", "Copy");
  await is(`[...document.querySelectorAll(".markdown .code button")].at(-1).innerText === "Copied"`);
  assert.equal(await copied(), CODE);
});

test("a_file_of_rows_offers_to_make_a_table_of_it_and_goes_into_the_message", options, async () => {
  const chips = () => browser.js(`return [...document.querySelectorAll("[data-testid=file-chip]")].map((node) => [node.querySelector("bdi").innerText, [...node.querySelectorAll("button")].map((button) => button.innerText).filter(Boolean)])`);
  // The second comes while the first, which takes longer to read, is still on its way.
  await browser.js(`
    const add = (name, text, ms) => {
      const file = new File([text], name);
      const read = () => new Promise((resolve) => setTimeout(() => resolve(new TextEncoder().encode(text).buffer), ms));
      Object.defineProperty(file, "arrayBuffer", { value: read });
      document.querySelector("l3-composer").add([file]);
    };
    add("notes.txt", "a\\nb\\n", 100);
    add("books.csv", "id,title\\n1,Dune\\n", 0);`);
  await is(`document.querySelectorAll("[data-testid=file-chip]").length === 2`);
  assert.deepEqual(await chips(), [["notes.txt", []], ["books.csv", ["Make a table of it"]]]);
  await browser.js(`document.querySelector("[data-testid=composer]").blur()`);
  await pressWords("[data-testid=file-chip] button", "Make a table of it");
  assert.deepEqual(await browser.js(`const field = document.querySelector("[data-testid=composer]"); return [field.value, document.activeElement === field]`), ["Make a table of books.csv and fill it with these rows.", true]);
  await browser.keys(ENTER);
  await is(`document.querySelector("[data-testid=file-chip]") === null && document.querySelectorAll("l3-user .file").length === 2`);
  for (let tries = 0; tries < 400 && server.messages().length === 0; tries += 1) await browser.js("return 0");
  const [{ content }] = server.messages();
  assert.equal(content, `Make a table of books.csv and fill it with these rows.\n\n${FENCE}file "notes.txt"\na\nb\n${FENCE}\n\n${FENCE}file "books.csv"\nid,title\n1,Dune\n${FENCE}`);
});

const openSteps = async () => {
  await is(`document.querySelector("l3-steps > details > summary") !== null`);
  await click("l3-steps > details > summary");
  await is(`document.querySelectorAll("l3-tool .step-mark").length === 4 && document.querySelector("l3-tool").checkVisibility()`);
};

test("an_empty_file_has_no_line", options, async () => {
  await browser.js(`document.querySelector("l3-composer").add([new File([""], "empty.txt")])`);
  await is(`document.querySelector(".file-chip .file-size")?.innerText === "0 lines"`);
  await click(".file-chip .icon-button");
});

test("a_message_that_was_changed_and_not_sent_is_there_again_unless_it_was_cancelled", options, async () => {
  const changed = async (text) => {
    await click("[data-testid=message-edit]");
    await is(`document.activeElement?.dataset.testid === "edit-text"`);
    const before = await browser.js(`return document.activeElement.value`);
    if (text) await browser.js(`document.activeElement.value = arguments[0]; document.activeElement.dispatchEvent(new Event("input", { bubbles: true }))`, text);
    return before;
  };
  const isShut = () => is(`document.querySelector("dialog[open]") === null`);
  assert.equal(await changed("Show me all of them."), "Show me the rows.");
  for (const type of ["mousePressed", "mouseReleased"]) await browser.cdp("Input.dispatchMouseEvent", { type, x: 5, y: 5, button: "left", clickCount: 1 });
  await isShut();
  assert.equal(await changed(), "Show me all of them.", "a press beside the dialog loses nothing");
  await browser.js(`location.hash = "#approvals"`);
  await isShut();
  await is(`document.activeElement?.dataset.place === "approvals"`);
  await browser.js(`history.back()`);
  await is(`document.querySelector("[data-testid=message-edit]")?.checkVisibility()`);
  assert.equal(await changed(), "Show me all of them.", "and neither does Back");
  await pressWords("dialog button", "Cancel");
  await isShut();
  assert.equal(await changed(), "Show me the rows.");
});

test("the_files_of_a_message_that_is_changed_are_files", options, async () => {
  const file = (name, text) => `\n\n${FENCE}file "${name}"\n${text}\n${FENCE}`;
  await browser.js(`Promise.all([import(document.querySelector("script[src*='shell/']").src.replace(/shell\\/.*/, "chat/again.js"))]).then(([{ createAgain }]) => {
    const session = { store: { getState: () => ({ shown: 1 }) }, api: { newConversation: async () => ({ conversation: 2 }) }, lists: { load() {} }, open: async () => {}, send: ({ content }) => (window.sentAgain = content) };
    window.again = createAgain({ session, go() {}, said() {} });
  })`);
  await is(`window.again !== undefined`);
  await browser.js(`window.again.edit({ content: arguments[0], editAt: 3 })`, `Read them.${file("a.csv", "x\n1")}${file("b.txt", "long")}`);
  await is(`document.activeElement?.value === "Read them." && document.querySelectorAll("[data-testid=edit-file]").length === 2`);
  await click("[data-testid=edit-file] button");
  await is(`document.activeElement?.dataset.testid === "edit-text" && document.querySelector("[data-testid=edit-file]").innerText.startsWith("b.txt")`);
  await click("[data-testid=confirm]");
  await is(`window.sentAgain === arguments[0]`, `Read them.${file("b.txt", "long")}`);
  await browser.js(`window.again.edit({ content: arguments[0], editAt: 4 })`, `One${file("a.csv", "x")}\n\nbehind it`);
  await is(`document.activeElement?.value === arguments[0]`, `One${file("a.csv", "x")}\n\nbehind it`);
});

test("the_timeline_has_an_icon_for_each_kind_of_step_and_how_long_it_took", options, async () => {
  const source = readFileSync(new URL("../../static/ui/icons.js", import.meta.url), "utf8");
  const path = (name) => new RegExp(`^  ${name}: "([^"]+)"`, "m").exec(source)[1];
  await openSteps();
  const shown = await browser.js(`return [...document.querySelectorAll("l3-tool")].map((step) => [step.querySelector(".step-mark path").getAttribute("d"), step.querySelector(".step-took").innerText])`);
  assert.deepEqual(shown, [[path("sql"), "12 ms"], [path("made"), "1.2 s"], [path("tasks"), "1 min 15 s"], [path("call"), "0 ms"]]);
  const places = await browser.js(`return [...document.querySelectorAll("l3-tool")].map((step) => [".step-mark", ".step-took"].map((css) => step.querySelector(css).getBoundingClientRect()).map(({ left, right, width, height }) => [left, right, width > 0 && height > 0]))`);
  for (const [mark, took] of places) assert.ok(mark[2] && took[2] && mark[1] - mark[0] === 24 && mark[1] < took[0], "an icon before, the time behind");
  assert.equal(new Set(places.map(([[left]]) => left)).size, 1, "icons stand one below the other");
  assert.equal(new Set(places.map(([, [, right]]) => right)).size, 1, "times end one below the other");
});

test("arguments_are_a_small_table_and_json_on_request", options, async () => {
  await openSteps();
  const inside = "l3-tool[data-tool=roman]";
  await click(`${inside} summary`);
  await is(`document.querySelector("${inside} .fields")?.checkVisibility()`);
  assert.deepEqual(await browser.js(`return [...document.querySelectorAll("${inside} .fields tr")].slice(0, 2).map((row) => [...row.children].map((cell) => cell.innerText))`), [["n", "4"], ["style", "classic"]]);
  const json = `document.querySelector("${inside} .tool-more .code code")`;
  assert.equal(await browser.js(`return ${json}`), null, "nothing of it before it is asked for");
  assert.equal(await browser.js(`return document.querySelector("${inside} .tool-more > summary").innerText`), "As JSON");
  await click(`${inside} .tool-more > summary`);
  await is(`${json}?.checkVisibility()`);
  assert.equal(await browser.js(`return ${json}.textContent`), JSON.stringify(ARGS, null, 2));
});

async function openRows() {
  await openSteps();
  await click("l3-tool[data-tool=execute_sql] summary");
  // The sheet of tables comes with the first one.
  await is(`document.querySelector(".rows-table tbody tr") !== null && getComputedStyle(document.querySelector(".rows-table thead th")).position === "sticky"`);
}

test("the_first_column_and_the_head_stay_while_a_table_scrolls", options, async () => {
  await openRows();
  const stays = () => browser.js(`
    const scroll = document.querySelector(".rows-table .table-scroll");
    const { left, top } = scroll.getBoundingClientRect();
    const [x, y] = [left + scroll.clientLeft, top + scroll.clientTop];
    const at = (node) => node.getBoundingClientRect();
    const heads = [...scroll.querySelectorAll("thead th")];
    const names = [...scroll.querySelectorAll("tbody tr > :first-child")];
    const onTop = (node, dx, dy) => document.elementFromPoint(at(node).left + dx, at(node).top + dy)?.closest("th") === node;
    const inSight = names.filter((node) => at(node).top > at(heads[0]).bottom && at(node).bottom < top + scroll.clientHeight);
    return {
      scrolled: [scroll.scrollLeft, scroll.scrollTop],
      heads: heads.every((node) => Math.abs(at(node).top - y) < 1),
      names: names.every((node) => Math.abs(at(node).left - x) < 1),
      corner: onTop(heads[0], 8, 8),
      covered: inSight.length > 3 && inSight.every((node) => onTop(node, 8, 8)),
    };`);
  const scroll = (left, top) => browser.later(`const [left, top, done] = arguments; const node = document.querySelector(".rows-table .table-scroll"); node.scrollIntoView({ block: "center" }); node.scrollTo({ left, top, behavior: "instant" }); requestAnimationFrame(() => requestAnimationFrame(() => done()))`, left, top);
  const good = { heads: true, names: true, corner: true, covered: true };
  await scroll(0, 0);
  assert.deepEqual(await stays(), { scrolled: [0, 0], ...good });
  await scroll(300, 400);
  assert.deepEqual(await stays(), { scrolled: [300, 400], ...good });
  // A row whose name is empty stays as well.
  await scroll(300, 20);
  assert.deepEqual(await stays(), { scrolled: [300, 20], ...good });
});

test("rows_are_copied_as_csv_and_markdown_and_saved_as_csv_in_the_order_that_is_shown", options, async () => {
  await openRows();
  const choose = async (text) => {
    await browser.js(`const node = [...document.querySelectorAll(".rows-bar button")].at(-1); node.focus(); node.click()`);
    await is(`document.querySelector(".menu") !== null`);
    await pressWords(".menu [role=menuitem]", text);
  };
  await choose("Copy as CSV");
  await is(`window.copied !== undefined`);
  assert.equal(await copied(), csvOf(ROWS));
  await is(`[...document.querySelectorAll(".rows-bar button")].at(-1).innerText === "Copied"`);
  for (let presses = 0; presses < 2; presses += 1) await click(".rows-table thead th:nth-child(2) button");
  await choose("Copy as Markdown");
  await is(`window.copied.startsWith("|")`);
  const markdown = [COLUMNS, COLUMNS.map((_, at) => (at === 0 ? "---" : "--:")), ...ROWS.toReversed()].map((row) => `| ${row.map((value) => value ?? "").join(" | ")} |\n`).join("");
  assert.equal(await copied(), markdown);
  await choose("Download CSV");
  let saved;
  for (let tries = 0; tries < 400 && saved === undefined; tries += 1) {
    saved = (await readdir(folder)).find((name) => name.endsWith(".csv"));
    await browser.js("return 0");
  }
  assert.equal(saved, "rows.csv");
  assert.equal(await readFile(join(folder, saved), "utf8"), csvOf(ROWS.toReversed()));
});
