// The requests before a person sees the page: the page itself, its sheets and one small script.
// Modules come after.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { serveScreens } from "./support/screens-server.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { emptyWorld, fullWorld } from "./support/worlds.mjs";

/** The font comes with the first text besides. */
const MOST_REQUESTS = 12;
const LAST_SHEET = "shell/shell.css";

const read = (file) => readFileSync(new URL(`../../static/${file}`, import.meta.url), "utf8");
const INDEX = read("index.html");
const named = [...INDEX.matchAll(/"\/s\/-\/([^"]+)"/g)].map(([, file]) => file);

test("the_page_itself_names_all_that_the_first_paint_needs", () => {
  assert.ok(named.length + 2 <= MOST_REQUESTS, `${named.length} files, the page and the font`);
  assert.deepEqual(named.filter((file) => file.endsWith(".js")), ["shell/early.js"], "no module holds it up");
  assert.ok(!INDEX.includes("modulepreload"));
  const sheets = named.filter((file) => file.endsWith(".css")).map(read).join("\n");
  assert.ok(!sheets.includes("@import"));
  for (const part of ["l3-rail", "l3-header", "l3-banners", "main", "l3-dock", 'class="skeleton"']) assert.ok(INDEX.includes(part), part);
  // The parts in it have their look without a module as well.
  for (const selector of ["l3-rail {", "l3-header {", ".skeleton {", ".mark {"]) assert.ok(sheets.includes(selector), selector);
});

/** Runs the early script in a window that is `hidden` or not: what it asked for, and what it left to be done later. */
function begun(hidden, { settings = {}, hash = "" } = {}) {
  const asked = [];
  const later = { frames: [] };
  const links = [];
  const arrivals = [];
  const listens = (type, action) => (later[type] = action);
  const document = { hidden, documentElement: { dataset: {} }, addEventListener: listens, currentScript: { src: "http://x/s/0/shell/early.js" }, createElement: () => ({}), head: { append: (link) => (links.push(`${link.rel} ${link.href.pathname ?? link.href}`), arrivals.push(link)) } };
  const source = read("shell/early.js").replaceAll("import(", "begins(");
  const storage = { getItem: () => JSON.stringify({ theme: "dark", ...settings }) };
  const run = new Function("document", "localStorage", "addEventListener", "requestAnimationFrame", "location", "begins", source);
  run(document, storage, listens, (action) => later.frames.push(action), { hash }, (file) => asked.push(file));
  assert.equal(document.documentElement.dataset.theme, "dark");
  assert.deepEqual(asked, []);
  later.DOMContentLoaded();
  /** All that was asked for comes, and what is asked for then. */
  const arrive = () => {
    for (const link of arrivals) link.onload?.();
    return links;
  };
  return { asked, later, links, arrive };
}

test("modules_are_asked_for_in_the_frame_after_the_first", () => {
  const { asked, later } = begun(false);
  const [first] = later.frames.splice(0);
  first();
  assert.deepEqual(asked, [], "this frame is painted when it ends");
  later.frames[0]();
  assert.deepEqual(asked, ["./index.js"]);
});

test("a_page_out_of_sight_has_no_frames_and_waits_for_none", () => {
  assert.deepEqual(begun(true).asked, ["./index.js"]);
  const { asked, later } = begun(false);
  later.visibilitychange();
  assert.deepEqual(asked, ["./index.js"], "it went out of sight before it was painted");
});

test("the_code_of_a_conversation_is_asked_for_at_once_where_something_was_said_before", () => {
  const known = begun(true, { settings: { begun: true }, hash: "#chat/7" });
  const first = [...known.links];
  assert.ok(first.includes("modulepreload /s/0/chat/markdown.js") && first.length < 20, "the reader comes first, and is at work while the others come");
  known.arrive();
  assert.ok(known.links.includes("modulepreload /s/0/chat/index.js") && known.links.includes("modulepreload /s/0/chat/answer.js"));
  known.later.visibilitychange();
  assert.deepEqual(known.asked, ["./index.js", "../chat/markdown.js"]);
  assert.equal(new Set(known.links).size, known.links.length, "each once");
  const unsaid = begun(true).arrive();
  assert.ok(unsaid.includes("modulepreload /s/0/chat/index.js") && unsaid.includes("preload /s/0/chat/messages.css"), "Chat itself is needed");
  assert.deepEqual(unsaid.filter((link) => /answer|markdown|vendor/.test(link)), [], "nothing was said yet");
  const elsewhere = begun(true, { settings: { begun: 3 }, hash: "#tasks" }).arrive();
  assert.ok(elsewhere.includes("modulepreload /s/0/shell/index.js"), "the page itself is needed everywhere");
  assert.deepEqual(elsewhere.filter((link) => /\/chat\/|preload .api/.test(link)), [], "another place");
});

test("what_was_said_last_in_the_main_conversation_is_asked_for_beside_the_code", () => {
  const asked = (settings, hash) => begun(true, { settings, hash }).links.filter((link) => link.startsWith("preload /api"));
  for (const hash of ["", "#chat"]) assert.deepEqual(asked({ begun: 3 }, hash), ["preload /api/conversations/3/frames?limit=400"]);
  assert.deepEqual(asked({ begun: 3 }, "#chat/7"), [], "another conversation is shown");
  assert.deepEqual(asked({ begun: true }, ""), [], "nobody has kept its number yet");
  assert.ok(read("core/connection.js").includes("HISTORY_FRAMES = 400"));
});

/** Tells the server when the page has been read, while the sheet is still missing. */
const WHEN_READ = `{ const sign = new URL("../icon-512.png", document.currentScript.src); addEventListener("DOMContentLoaded", () => fetch(sign)); }`;

let browser;
before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.end());

const isReady = () => browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=connected]") !== null`);

test("no_module_is_asked_for_while_a_sheet_is_missing", { skip }, async () => {
  const asked = [];
  let early;
  let arrive;
  const missing = new Promise((resolve) => (arrive = resolve));
  let isAsked;
  const lastSheet = new Promise((resolve) => (isAsked = resolve));
  const server = await serveScreens(emptyWorld(Date.now()), ({ path, text }) => {
    asked.push(path);
    if (path === "shell/early.js") return text + WHEN_READ;
    if (path === LAST_SHEET) isAsked();
    if (path === LAST_SHEET) return missing.then(() => text);
    // Requests of one moment may come in any order.
    if (path === "icon-512.png") lastSheet.then(() => ((early = [...asked]), arrive()));
    return text;
  });
  try {
    await browser.go(server.address);
    await isReady();
    assert.deepEqual(early.filter((path) => path.endsWith(".js")), ["shell/early.js"]);
    assert.ok(early.includes(LAST_SHEET) && early.length <= MOST_REQUESTS, early.join(" "));
    assert.ok(asked.includes("shell/index.js") && asked.includes("chat/index.js"), "and then they come");
  } finally {
    arrive();
    server.end();
  }
});

test("a_foot_is_asked_for_when_the_code_of_its_answer_is_there", { skip }, async () => {
  const asked = [];
  const server = await serveScreens(fullWorld(Date.now()), undefined, (path) => asked.push(path.split("/").at(-1)));
  try {
    await browser.go(server.address);
    await browser.waitFor(`return document.querySelector("[data-testid=turn-foot]") !== null`);
    const [answer, reader, foot] = ["answer.js", "blocks.js", "turn-foot.js"].map((name) => asked.indexOf(name));
    // Requests of one moment may come in any order: these two do, and the foot is asked for when
    // both are there.
    assert.ok(answer >= 0 && reader >= 0 && foot > Math.max(answer, reader), `${answer} ${reader} ${foot}`);
  } finally {
    server.end();
  }
});
