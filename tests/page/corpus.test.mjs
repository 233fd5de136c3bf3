// Thousands of published texts that attack pages, DOMPurify's fixtures among them, in every place where a text of others can stand,
// through the whole page under its real policy: nothing runs, nothing is tried that the policy has
// to stop, and nothing is asked for but what the page asks for itself. In files and copies of rows
// they stay the texts that they are.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { HOSTILE } from "./hostile.mjs";
import { load } from "./load.mjs";
import { events, replay, turn } from "./site-fixtures.mjs";
import { openScreen, SCREENS } from "./support/screens.mjs";
import { serveScreens } from "./support/screens-server.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { fullWorld } from "./support/worlds.mjs";
import FIXTURES from "./vendor/dompurify-3.4.14-expect.mjs";

const { csvOf, markdownOf, readTable } = await load("ui/table-text.js");

const LIST = new URL("vendor/xss-payload-list-d473925.txt", import.meta.url);
const TEXTS = [...new Set(readFileSync(LIST, "utf8").split("\n").map((line) => line.trim()).filter(Boolean))];
/** So many at a time. */
const AT_ONCE = 580;
/** Those that DOMPurify's authors collected, and ours. */
const COLLECTED = [...FIXTURES.map(({ payload }) => payload), ...Object.values(HOSTILE).map((text) => text.replaceAll("FOREIGN", "https://foreign.example"))];
/** Some two thousand of the list, and of every kind: like ones stand beside each other. */
const LISTED = Array.from({ length: 2010 }, (_, index) => TEXTS[Math.floor((index * TEXTS.length) / 2010)]);
/** Each batch has a share of both. */
const CHOSEN = mixed(LISTED, COLLECTED);
/** The texts of both, evenly among each other. */
function mixed(many, few) {
  const each = many.length / few.length;
  return few.flatMap((text, index) => [text, ...many.slice(Math.round(index * each), Math.round((index + 1) * each))]);
}

/** Longer than any fence in a text. */
const FENCE = "`".repeat(40);
const ASKED_FOR = /^\/(|s\/0{16}\/[\w./-]+|chat|api\/policy\/builder|api\/capabilities\/roman_numeral|api\/mcp\/files\/tools|api\/me\/sessions|api\/assistant\/chat|api\/replay\/turns\/1|api\/[a-z]+(\/\d+(\/(frames|export))?)?)$/;

/**
 * Runs before anything of the page. A browser also tells of the styles and, since Chromium 156, of the handlers that DOMPurify reads into a
 * document that is never shown: these are not counted.
 */
const WATCH = `
  globalThis.ran = [];
  globalThis.stopped = [];
  for (const name of ["alert", "confirm", "prompt", "print"]) globalThis[name] = () => void ran.push(name);
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample, sourceFile }) => /\\/vendor\\/dompurify-/.test(sourceFile) || stopped.push([violatedDirective, blockedURI, sample, sourceFile].join(" ")));`;

/** The things that must not be in the page, wherever they stand. */
const LOOK = `
  const found = [];
  const own = "link, script, svg, path, input, textarea, form, iframe";
  for (const node of document.querySelectorAll("main *, dialog, dialog *, l3-header *, l3-dock *, #announcer *")) {
    for (const { name, value } of node.attributes) {
      if (/^on/i.test(name)) found.push(node.localName + " " + name);
      if (name === "style" && !node.matches(".menu, textarea, l3-gap, .chart-canvas *")) found.push(node.localName + " style=" + value);
      if (["src", "srcset", "action", "formaction", "data", "poster"].includes(name) && !/^(data:image|\\/api\\/attachments\\/)/.test(value)) found.push(node.localName + " " + name + "=" + value);
      if ((name === "href" || name === "xlink:href") && !/^(https?:|mailto:|#|\\/api\\/|blob:)/i.test(value)) found.push(node.localName + " href=" + value);
    }
    if (node.matches("script, style, iframe, object, embed, base, meta, link, frame, template, math, audio, video, marquee")) found.push(node.localName);
    if (node.localName === "svg" && !node.matches(".icon, .chart *, [role=img], [aria-hidden=true]")) found.push("svg");
  }
  return { found: found.slice(0, 20), ran, stopped: stopped.slice(0, 20), nodes: document.querySelectorAll("*").length };`;

let browser;
let server;
const asked = [];
const world = { ...fullWorld(Date.now()), whole: true };
before(async () => {
  if (skip) return;
  server = await serveScreens(world, ({ text }) => text, (path) => asked.push(path));
  browser = await startBrowser();
  await browser.cdp("Page.addScriptToEvaluateOnNewDocument", { source: WATCH });
  await browser.cdp("Page.setDownloadBehavior", { behavior: "deny" });
});
after(async () => {
  await browser?.end();
  server?.end();
});

/** A message with a file of which both the name and the text are this one. */
const withFile = (text) => `${text}\n\n${FENCE}file "${text.replaceAll('"', "'").slice(0, 100)}"\n${text}\n${FENCE}`;

/** A world that says these texts wherever it says something. */
function fill(texts) {
  const { api } = fullWorld(Date.now());
  const at = new Date().toISOString();
  let seq = 0;
  const frame = (fields) => ({ conversation: 1, seq: (seq += 1), at, ...fields });
  world.frames = texts.flatMap((text, index) => [
    frame({ type: "turn", turn: index + 1, state: "queued", origin: index % 2 ? "message" : "task", content: index % 2 ? withFile(text) : text }),
    frame({ type: "tool_call", name: text, arguments: { [text]: text, query: text }, call: index + 1, turn: index + 1 }),
    frame({ type: "tool_result", name: text, result: JSON.stringify([1, 2].map((n) => ({ [text]: text, more: text, n }))), said: text, ok: index % 3 > 0, columns: [{ name: text, type: "text" }, { name: "more", type: text }, { name: "n", type: "int4" }], call: index + 1, turn: index + 1 }),
    frame({ type: "assistant", content: text, turn: index + 1, step: 1, final: true }),
    frame({ type: "turn", turn: index + 1, state: index % 5 ? "completed" : "failed", reason: text }),
  ]);
  const [conversation] = api["/api/conversations"].conversations;
  const [task] = api["/api/tasks"].tasks;
  const [capability] = api["/api/capabilities"].capabilities;
  const [secret] = api["/api/secrets"].secrets;
  const [approval] = api["/api/approvals"].approvals;
  const [found] = api["/api/search"].found;
  const powerful = (text) => ({ name: text, language: "javascript", source: text, replaces: 1, diff: `-${text}\n+${text}`, differences: [{ [text]: text }], grants: { http: { hosts: [text] } }, grants_in_words: [text] });
  const shown = (text, id) => ({ ...approval.shown, tool: text, arguments: { a: text, [text]: `${text}\n${text}` }, what: [text], why: text, capability: id % 3 ? powerful(text) : null });
  const waits = (id) => id % 10 === 0;
  Object.assign(api["/api/conversations"], { conversations: texts.map((title, id) => ({ ...conversation, id: id + 2, title })) });
  Object.assign(api["/api/tasks"], { tasks: texts.map((text, id) => ({ ...task, id: id + 1, title: text, details: text, status: id % 7 ? "pending" : "done", subtasks: [{ id, title: text, completed: false }] })) });
  Object.assign(api["/api/capabilities"], { capabilities: texts.map((text) => ({ ...capability, name: text, description: text, grants_in_words: [text] })) });
  Object.assign(api["/api/secrets"], { secrets: texts.slice(0, 50).map((text) => ({ ...secret, name: text, used_by: [text] })) });
  Object.assign(api["/api/approvals"], { approvals: texts.map((text, id) => ({ ...approval, id: id + 10, state: waits(id) ? "pending" : "denied", reason: text, shown: shown(text, id), decided_at: waits(id) ? null : at })) });
  // Each text once, and all kinds of events in turn.
  const kinds = turn("").length;
  Object.assign(api["/api/events"], { events: texts.map((text, index) => ({ ...events(text, null).events[index % kinds], position: index })) });
  Object.assign(api["/api/replay/turns/1"], { events: texts.map((text, index) => ({ ...replay(text).events[index % kinds], sequence: index + 1 })) });
  api["/api/conversations/2/export"] = { conversation: 2, title: texts[0] };
  Object.assign(api["/api/search"], { found: texts.slice(0, 200).map((text) => ({ ...found, title: text, snippet: [{ text, hit: false }, { text, hit: true }] })) });
  const [user] = api["/api/users"].users;
  const [session] = api["/api/me/sessions"].sessions;
  Object.assign(api["/api/users"], { users: texts.slice(0, 50).map((name, id) => ({ ...user, id: id + 1, name, display_name: name })) });
  Object.assign(api["/api/me/sessions"], { sessions: texts.slice(0, 50).map((client, id) => ({ ...session, id: id + 1, client })) });
  const properties = texts.map((text) => [text, [{ type: "string", default: text, description: text }, { enum: [text], default: text }, { type: "array", items: { type: "string" }, default: [text] }, { type: "object", title: text }]]);
  Object.assign(api["/api/capabilities/roman_numeral"], { description: texts[0], parameters: { type: "object", properties: Object.fromEntries(properties.map(([name, kinds], index) => [name, kinds[index % kinds.length]])) } });
  const days = api["/api/usage"];
  Object.assign(days, { models: texts.slice(0, 50).map((model) => ({ ...days.models[0], model })) });
  Object.assign(world, { api, model: { kind: "local", provider: texts[0], name: texts[1] } });
}

const PLACES = SCREENS.filter(({ name }) => ["chat", "approvals", "lea", "tasks", "task", "capability", "capabilities", "activity", "replay", "settings"].includes(name));
const OPEN = `for (const node of [...document.querySelectorAll("main details:not([open])")].slice(0, 1500)) node.open = true;`;
/** The files of messages, and the insides of some steps, whose rows are drawn as charts. */
const FILES = `for (const node of document.querySelectorAll("main details.file")) node.open = true; for (const node of [...document.querySelectorAll("main l3-steps")].slice(0, 30)) for (const each of node.querySelectorAll("details")) each.open = true;`;
const CHARTS = `for (const node of document.querySelectorAll("[data-testid=chart-open]")) node.click();`;
const SEARCH = `const field = document.querySelector("[data-testid=conversation-search]"); field.value = "x"; field.dispatchEvent(new Event("input", { bubbles: true }));`;

const MENU = `document.querySelector("l3-conversation a[href='#chat/2'] + button").click()`;
const EXPORT = `[...document.querySelectorAll(".menu [role=menuitem]")].find((node) => node.textContent === "Save as Markdown").click()`;
const PALETTE = `dispatchEvent(new CustomEvent("open-palette"))`;
const FIND = `const field = document.querySelector("[data-testid=palette]"); field.value = arguments[0]; field.dispatchEvent(new Event("input", { bubbles: true }))`;
/** Shows each event of the turn, and keeps a copy of all that stood there. */
const REPLAY = `
  const range = document.querySelector("[data-testid=replay-range]");
  const shown = document.querySelector("[data-testid=replay-event]");
  const kept = document.createElement("div");
  document.querySelector(".replay").append(kept);
  for (let at = 1; at <= Number(range.max); at += 1) {
    range.value = String(at);
    range.dispatchEvent(new Event("input"));
    kept.append(shown.cloneNode(true));
  }
  return kept.childElementCount;`;

/** Fails if something is in the page that must not be there, or was tried. */
async function look(name) {
  const { found, ran, stopped, nodes } = await browser.js(LOOK);
  assert.ok(nodes > 150, `${name} shows something`);
  assert.deepEqual({ found, ran, stopped }, { found: [], ran: [], stopped: [] }, name);
}

/** The menu of a conversation, and its export. */
async function lookAtMenu() {
  await browser.js(MENU);
  await browser.waitFor(`return document.querySelector(".menu [role=menuitem]") !== null`);
  await look("the menu of a conversation");
  await browser.js(EXPORT);
  for (let tries = 0; tries < 400 && !asked.some((path) => path.endsWith("/export")); tries += 1) await browser.js("return 0");
  assert.ok(asked.includes("/api/conversations/2/export"), "the file is asked for");
  assert.equal(await browser.js("return location.hash"), "#chat", "the page stays where it was");
}

/** The palette: names that the page knows, and the server's finds. */
async function lookAtPalette() {
  await browser.js(PALETTE);
  await browser.waitFor(`return document.activeElement?.dataset.testid === "palette"`);
  for (const text of ["al", "zzzz"]) {
    await browser.js(FIND, text);
    await browser.waitFor(`return document.querySelectorAll("#palette-list [role=option]").length > 5`);
    await look(`the palette with ${text}`);
  }
}

test("the_corpus_is_whole", () => {
  assert.ok(COLLECTED.length >= 230, `${COLLECTED.length} that were collected against DOMPurify, and ours`);
  assert.ok(CHOSEN.length >= 2000 + COLLECTED.length, `${CHOSEN.length} texts`);
  assert.equal(new Set(CHOSEN).size, new Set([...LISTED, ...COLLECTED]).size, "none is lost");
  assert.ok(CHOSEN.every((text) => typeof text === "string"));
});

for (let from = 0; from < CHOSEN.length; from += AT_ONCE) {
  test(`texts_${from}_to_${Math.min(CHOSEN.length, from + AT_ONCE)}_run_nothing_and_ask_for_nothing`, { skip, timeout: 280_000 }, async () => {
    fill(CHOSEN.slice(from, from + AT_ONCE));
    for (const screen of PLACES) {
      asked.length = 0;
      await openScreen(browser, server.address, screen);
      await browser.js(OPEN);
      if (screen.name === "chat") {
        // Earlier rows are made when a person comes near them; here all of them are looked at.
        const all = `const list = document.querySelector("l3-messages:not([hidden])"); list.fit = () => false; list.view.move(0, list.view.rows.length); list.draw(); return list.querySelectorAll("[data-kind=assistant]").length > 100`;
        await browser.waitFor(all);
        // What is opened has insides of its own, which come in a later frame.
        await browser.waitFor(`${FILES} return document.querySelectorAll("[data-testid=chart-open]").length > 10 && document.querySelectorAll("details.file pre").length > 100`);
        await browser.js(CHARTS);
        await browser.waitFor(`return document.querySelectorAll(".chart-canvas canvas").length > 10`);
        await lookAtMenu();
        await browser.js(SEARCH);
        await browser.waitFor(`return document.querySelector("l3-found") !== null`);
        await look("the list with what was found");
        await lookAtPalette();
      }
      if (screen.name === "approvals") await browser.waitFor(`${OPEN} return document.querySelectorAll("l3-approval").length > 20 && document.querySelectorAll("[data-testid=decisions] .approval-body > *").length > 100`);
      if (screen.name === "replay") assert.ok((await browser.js(REPLAY)) > 100);
      await browser.later(`const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))`);
      await look(screen.name);
      assert.deepEqual(asked.filter((path) => !ASKED_FOR.test(path)), [], screen.name);
    }
  });
}

/** The cells of CSV as RFC 4180 has them. */
const cellsOf = (csv) => [...csv.matchAll(/("(?:[^"]|"")*"|[^,\r\n"]*)(?:,|\r\n)/g)].map(([, cell]) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));

test("rows_that_are_saved_or_copied_hold_each_text_and_no_formula", () => {
  for (const text of TEXTS.flatMap((text) => [text, `=${text}`, `-1+${text}`, `@${text}`])) {
    const rows = readTable({ columns: [{ name: text, type: "text" }, { name: "n", type: "int4" }], rows: [[text, 1]] });
    const cells = cellsOf(csvOf(rows));
    assert.deepEqual(cells.map((cell, index) => (index % 2 === 0 ? cell.replace(/^'/, "") : cell)), [text.replace(/^'/, ""), "n", text.replace(/^'/, ""), "1"]);
    for (const cell of cells) assert.doesNotMatch(cell, /^\s*[=+@-]/, text);
    const lines = markdownOf(rows).split("\n");
    assert.equal(lines.length, 4, text);
    for (const line of lines.slice(0, 3)) assert.equal(line.replace(/\\./g, "").split("|").length, 4, text);
  }
});

test("the_watch_would_have_noticed", { skip, timeout: 60_000 }, async () => {
  await browser.js(`const node = document.createElement("div"); document.querySelector("main").append(node); node.innerHTML = "<img src=/nothing onerror=alert(1)><p style='color: red'>x</p>"`);
  await browser.waitFor(`return stopped.some((each) => each.startsWith("script-src"))`);
  const { found } = await browser.js(LOOK);
  assert.ok(found.some((each) => each.startsWith("img onerror")) && found.some((each) => each.startsWith("img src")), found.join());
  assert.ok(asked.some((path) => !ASKED_FOR.test(path)));
});
