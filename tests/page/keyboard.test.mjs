// Everything a person does often, with the keyboard alone: each is reached with Tab or its own key,
// done, and the focus is in sight before and after it.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import * as told from "./site-fixtures.mjs";
import { longFrames } from "./support/long.mjs";
import { callFrames, serveTalk } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { workedFrames } from "./support/worked.mjs";
import { fullWorld } from "./support/worlds.mjs";

const options = { skip, timeout: 120_000 };
const [TAB, ENTER, ESCAPE, SHIFT, CONTROL, ALT] = ["\uE004", "\uE007", "\uE00C", "\uE008", "\uE009", "\uE00A"];
const [UP, DOWN] = ["\uE013", "\uE015"];
const ASKED = { tool: "execute_sql", arguments: { query: "DELETE FROM books" }, what: ["Deletes all rows of `books`."], why: "It deletes rows.", can_always: false };

let browser;
let server;
/** The changes that the server was asked for: `[what, body]`. */
let asked;

function answers() {
  const { api } = fullWorld(Date.now());
  const note = (what, answer) => ({ search, body }) => (asked.push([what, body ?? Object.fromEntries(search)]), typeof answer === "function" ? answer(body, search) : answer);
  const list = api["/api/conversations"];
  const settings = told.settings("here");
  return {
    ...api,
    "/api/approvals": { approvals: [] },
    "/api/conversations/8/frames": { frames: [], before: null },
    "PATCH /api/conversations/8": note("rename", ({ title }) => ((list.conversations.find(({ id }) => id === 8).title = title), {})),
    "DELETE /api/conversations/8": note("delete", (_, search) => {
      if (search.has("confirmed")) list.conversations = list.conversations.filter(({ id }) => id !== 8);
      return { said: "What was recorded stays on record." };
    }),
    "POST /api/capabilities/roman_numeral/call": note("call", () => {
      for (const frame of callFrames(50, 500, { name: "roman_numeral", args: { n: 4 }, result: '"IV"', said: "roman_numeral gave IV." })) server.record(frame);
      return { turn: 50, conversation: 1 };
    }),
    "/api/turns/50": { turn: 50, state: "completed", approval: null, results: [{ ok: true }] },
    "/api/models": told.models("llama3"),
    "GET /api/settings": { settings },
    "PUT /api/settings": note("settings", (changes) => ({ settings: settings.map((each) => (each.name in changes ? { ...each, waits: true, next: changes[each.name] } : each)) })),
  };
}

before(async () => {
  if (skip) return;
  browser = await startBrowser();
  await browser.size(1280, 900);
  await browser.media({ "prefers-reduced-motion": "reduce" });
});
after(() => browser?.end());
beforeEach(async () => {
  if (skip) return;
  asked = [];
  server = await serveTalk(workedFrames(), { api: answers() });
});
afterEach(() => server?.end());

async function open(hash = "#chat") {
  await browser.go("about:blank");
  await browser.go(`${server.address}${hash}`);
  await browser.waitFor(`return document.querySelector("[data-testid=connection]")?.dataset.state === "connected"`);
}
async function openChat() {
  await open();
  await browser.waitFor(`return document.querySelectorAll("l3-foot").length >= 2`);
}

/** How the focus is: what has it, and what is wrong about it. A heading or a region that was sent it shows no ring. */
const FOCUS = `
  const node = document.activeElement;
  if (!node || node === document.body) return { name: "nothing", wrong: "the focus is lost" };
  const name = node.outerHTML.slice(0, 120);
  const ring = (style) => (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1) || style.boxShadow !== "none";
  const around = node.closest("l3-composer form, .palette");
  const hasRing = ring(getComputedStyle(node)) || ring(getComputedStyle(node, "::after")) || (around && ring(getComputedStyle(around)));
  const { top, bottom, width } = node.getBoundingClientRect();
  const isSeen = node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && bottom > 0 && top < innerHeight && width > 0;
  const wrong = !isSeen ? "out of sight" : node.tabIndex >= 0 && !hasRing ? "no ring" : "";
  return { name, wrong, at: arguments[0] ? node.matches(arguments[0]) : false };`;

/** How the focus is once rows have come in and what was scrolled to stands still: half a second of frames at most. */
async function focused(css) {
  for (let frame = 0; ; frame += 1) {
    const how = await browser.js(FOCUS, css);
    if (how.wrong === "" || how.name === "nothing" || frame === 30) return how;
    await browser.later(`requestAnimationFrame(() => arguments[0]())`);
  }
}

/** The focus is somewhere, and can be seen. */
async function kept(when) {
  const { name, wrong } = await focused();
  assert.equal(wrong, "", `${when}: ${name}`);
}

/** Presses Tab until the focus is on `css`; each stop on the way is in sight. `back` goes the other way. */
async function reach(css, { back = false } = {}) {
  for (let press = 0; press < 150; press += 1) {
    const { name, wrong, at } = await focused(css);
    if (name !== "nothing") assert.equal(wrong, "", `on the way to ${css}: ${name}`);
    if (at) return;
    await (back ? browser.chord(SHIFT, TAB) : browser.keys(TAB));
  }
  assert.fail(`Tab does not reach ${css}`);
}
const press = (...keys) => browser.keys(...keys);
const typed = (text) => browser.keys(...text);
const is = (script, ...all) => browser.waitFor(`return ${script}`, ...all);
async function heard(type) {
  for (let tries = 0; tries < 400; tries += 1) {
    const found = server.heard.find((frame) => frame.type === type);
    if (found) return found;
    await browser.js("return 0");
  }
  return assert.fail(`${type} was never said`);
}
async function askedFor(what) {
  for (let tries = 0; tries < 400; tries += 1) {
    const found = asked.findLast(([name]) => name === what);
    if (found) return found[1];
    await browser.js("return 0");
  }
  return assert.fail(`${what} was never asked`);
}
async function running(turn = 3) {
  server.record({ type: "turn", turn, state: "queued", origin: "message", content: "Go on." });
  server.record({ type: "turn", turn, state: "running" });
  await is(`document.querySelector("[data-testid=stop]").checkVisibility()`);
}
async function waitingForMe() {
  await running();
  server.record({ type: "tool_call", name: "execute_sql", arguments: ASKED.arguments, call: 30, turn: 3 });
  server.record({ type: "approval", id: 5, state: "pending", call: 30, turn: 3, ...ASKED, expires_at: new Date(Date.now() + 3_600_000).toISOString() });
  await is(`document.querySelector("l3-approval[data-state=pending] form") !== null`);
}
const decided = (state) => server.record({ type: "approval", id: 5, state, channel: "page", decided_at: new Date().toISOString(), call: 30, turn: 3 });

test("send", options, async () => {
  await openChat();
  await reach("[data-testid=composer]");
  await typed("Hello there");
  await press(ENTER);
  assert.equal((await heard("message")).content, "Hello there");
  await is(`document.querySelector("[data-kind=user]:last-of-type, [data-kind=working]") !== null && document.querySelector("[data-testid=composer]").value === ""`);
  await kept("after it was sent");
  await typed("More");
  await is(`document.querySelector("[data-testid=composer]").value === "More"`);
});

test("stop_by_the_button_and_by_escape", options, async () => {
  await openChat();
  await running();
  await reach("[data-testid=stop]");
  await press(ENTER);
  await heard("stop");
  server.record({ type: "turn", turn: 3, state: "aborted", ms: 10 });
  await is(`!document.querySelector("[data-testid=stop]").checkVisibility()`);
  await kept("after it was stopped");
  server.heard.length = 0;
  await running(4);
  await press(ESCAPE);
  await heard("stop");
  await kept("after Escape");
});

const stops = () => server.heard.filter(({ type }) => type === "stop").length;
const toasts = () => browser.js(`return document.querySelectorAll(".toast").length`);

test("escape_stops_only_at_the_second_press_while_something_is_written", options, async () => {
  await openChat();
  await running();
  await reach("[data-testid=composer]");
  await typed("In German");
  await press(ESCAPE);
  await is(`document.querySelector(".toast")?.innerText === "Press Escape again to stop what runs."`);
  // What is written meanwhile takes the line from nobody.
  server.delta(3, "A beginning of an answer ");
  await is(`document.querySelector("l3-messages:not([hidden])").innerText.includes("A beginning")`);
  assert.deepEqual([await toasts(), stops()], [1, 0]);
  // A second press that comes late is a first one.
  await browser.js(`const now = performance.now.bind(performance); performance.now = () => now() + 8_100`);
  await press(ESCAPE);
  await is(`document.querySelectorAll(".toast").length === 2`);
  await press(ESCAPE);
  await heard("stop");
  assert.equal(stops(), 1);
  assert.equal(await browser.js(`return document.querySelector("[data-testid=composer]").value`), "In German");
  await kept("after it was stopped");
});

test("between_turns", options, async () => {
  server.end();
  server = await serveTalk(longFrames(12), { api: answers() });
  await open();
  await browser.waitFor(`return [...document.querySelectorAll("l3-user")].at(-1)?.innerText.includes("Message 12.")`);
  await reach("[data-testid=composer]");
  const at = (turn) => is(`document.activeElement.matches("l3-user") && document.activeElement.innerText.includes(\`Message \${arguments[0]}.\`)`, turn);
  const offset = () => browser.js(`return document.activeElement.getBoundingClientRect().top - document.querySelector("l3-messages:not([hidden]) .scroller").getBoundingClientRect().top`);
  await browser.chord(ALT, UP);
  await is(`document.activeElement.matches("l3-user")`);
  const first = Number(await browser.js(`return /Message (\\d+)\\./.exec(document.activeElement.innerText)[1]`));
  for (const [key, turn] of [[UP, first - 1], [UP, first - 2], [DOWN, first - 1], [DOWN, first]]) {
    await browser.chord(ALT, key);
    await at(turn);
    assert.ok(Math.abs((await offset()) - 12) < 2, "at the top");
    await kept(`at message ${turn}`);
  }
});

/** Opens the palette, and takes what it finds first for `text`. */
async function choose(text) {
  await browser.chord(CONTROL, "k");
  await is(`document.activeElement?.dataset.testid === "palette"`);
  await typed(text);
  const [entry, kind] = await browser.js(`return [...document.querySelector(".palette [aria-selected=true]").querySelectorAll("span")].map((node) => node.innerText)`);
  await press(ENTER);
  await is(`document.querySelector("dialog") === null`);
  return [entry, kind];
}

test("the_palette_leads_to_a_capability_and_does_what_it_names", options, async () => {
  await openChat();
  await reach("[data-testid=composer]");
  assert.deepEqual(await choose("fold"), ["Fold the list away, or show it", "Action"]);
  await is(`!document.querySelector(".conversation-panel").checkVisibility()`);
  await kept("after the list was folded");
  await running();
  assert.deepEqual(await choose("stop"), ["Stop", "Action"]);
  await heard("stop");
  await kept("after it was stopped");
  assert.deepEqual(await choose("roman_num"), ["roman_numeral", "Capability"]);
  await is(`location.hash === "#capabilities/roman_numeral" && document.querySelector("[data-testid=schema-form]") !== null`);
  await kept("in the place of what was chosen");
});

test("steer", options, async () => {
  await openChat();
  await running();
  await reach("[data-testid=composer]");
  await typed("In German, please");
  await reach("[data-testid=steer]");
  await press(ENTER);
  const { content, steer } = await heard("message");
  assert.deepEqual({ content, steer }, { content: "In German, please", steer: true });
  await kept("after it was shown to the turn");
});

test("a_new_line_sends_nothing_when_a_question_has_come_in_mid_sentence", options, async () => {
  await openChat();
  await waitingForMe();
  await reach("[data-testid=composer]");
  await typed("In German");
  await browser.chord(ALT, ENTER);
  await is(`document.querySelector("[data-testid=composer]").value === "In German\\n"`);
  assert.deepEqual(server.messages(), []);
});

test("open_a_step", options, async () => {
  await openChat();
  await reach("[data-testid=composer]");
  await reach("l3-steps > details > summary", { back: true });
  await press(ENTER);
  await is(`document.activeElement.parentElement.open`);
  await reach("l3-tool > details > summary");
  await press(ENTER);
  await is(`document.activeElement.parentElement.open && document.activeElement.parentElement.querySelector(".tool-body").innerText.length > 0`);
  await kept("after it was opened");
});

/** Opens the step with rows, by keyboard. */
async function toRows() {
  await openChat();
  await reach("[data-testid=composer]");
  await reach("[data-testid=message-edit]", { back: true });
  await reach("[data-kind=user]:first-child [data-testid=message-edit]", { back: true });
  await reach("l3-steps > details > summary");
  await press(ENTER);
  await reach("l3-tool > details > summary");
  await press(ENTER);
  await is(`document.querySelector(".rows-table tbody tr") !== null`);
}

test("sort_the_rows", options, async () => {
  await toRows();
  await reach(".rows-table th:nth-child(2) button");
  await press(ENTER);
  await is(`document.querySelector(".rows-table th:nth-child(2)").getAttribute("aria-sort") === "ascending"`);
  await kept("after they were sorted");
  await press(ENTER);
  await is(`document.querySelector(".rows-table th:nth-child(2)").getAttribute("aria-sort") === "descending"`);
  assert.equal(await browser.js(`return document.querySelector(".rows-table tbody tr td").textContent`), "11");
});

test("draw_a_chart_and_choose_its_column", options, async () => {
  await toRows();
  await reach("[data-testid=chart-open]");
  await press(" ");
  await is(`document.querySelector(".chart-canvas canvas[role=img]") !== null`);
  await kept("after it was drawn");
  await reach(".chart-picks select");
  await kept("on the choice of a column");
  const drawn = () => browser.js(`return document.querySelector(".chart-canvas canvas").getAttribute("aria-label")`);
  assert.match(await drawn(), /^Line of sold by day, 12 points/);
  await reach(".chart-pick:last-child select");
  await press(DOWN);
  await is(`document.querySelector(".chart-canvas canvas").getAttribute("aria-label").startsWith("Bars of sold by note, 12 points")`);
  await kept("after another column was chosen");
  await reach("[data-testid=chart-open]", { back: true });
  await press(" ");
  await is(`!document.querySelector("rows-chart").checkVisibility()`);
  await kept("after it was put away");
});

test("approve", options, async () => {
  await openChat();
  await waitingForMe();
  await reach("[data-testid=composer]");
  await reach("[data-testid=approval-approve]", { back: true });
  await is(`document.querySelector("l3-approval").dataset.armed === "true"`);
  await press(ENTER);
  assert.equal((await heard("approve")).approval, 5);
  await kept("while it is sent");
  decided("approved");
  await is(`document.querySelector("l3-approval").dataset.state === "approved"`);
  await kept("after it was approved");
});

test("deny_with_a_reason", options, async () => {
  await openChat();
  await waitingForMe();
  await reach("[data-testid=composer]");
  await reach("[data-testid=approval-reason]", { back: true });
  await typed("not today");
  await press(ENTER);
  const { approval, reason } = await heard("deny");
  assert.deepEqual({ approval, reason }, { approval: 5, reason: "not today" });
  decided("denied");
  await is(`document.querySelector("l3-approval").dataset.state === "denied"`);
  await kept("after it was denied");
});

test("search_and_go_to_what_was_found", options, async () => {
  await openChat();
  await browser.chord(CONTROL, SHIFT, "f");
  await is(`document.activeElement.dataset.testid === "conversation-search"`);
  await kept("in the search");
  await typed("weather");
  await is(`document.querySelector("l3-found a") !== null`);
  await press(DOWN);
  await kept("on what was found");
  await press(ENTER);
  await is(`location.hash === "#chat/8/70"`);
  await kept("after going there");
});

/** Goes to the menu of conversation 8. */
async function toMenu() {
  await openChat();
  await browser.chord(CONTROL, SHIFT, "f");
  await is(`document.querySelector("l3-conversation a[href='#chat/8']") !== null`);
  await reach("l3-conversation a[href='#chat/8'] + button");
  await press(ENTER);
  await is(`document.activeElement.getAttribute("role") === "menuitem"`);
  await kept("in the menu");
}

test("rename_a_conversation", options, async () => {
  await toMenu();
  await press(ENTER);
  await is(`document.querySelector("dialog input") === document.activeElement`);
  await typed("Rain and sun");
  await press(ENTER);
  assert.deepEqual(await askedFor("rename"), { title: "Rain and sun" });
  await is(`document.querySelector("dialog") === null && document.querySelector("l3-conversation a[href='#chat/8']").textContent.includes("Rain and sun")`);
  await kept("after it was renamed");
});

test("delete_a_conversation", options, async () => {
  await toMenu();
  await press(UP);
  await press(ENTER);
  await is(`document.querySelector("dialog")?.innerText.includes("stays on record")`);
  await kept("in the question");
  await reach("[data-testid=confirm]");
  await press(ENTER);
  await is(`document.querySelector("dialog") === null && document.querySelector("l3-conversation a[href='#chat/8']") === null`);
  assert.deepEqual(await askedFor("delete"), { confirmed: "true" });
  await kept("after it was deleted");
});

test("try_a_capability", options, async () => {
  await open("#capabilities/roman_numeral");
  await is(`document.querySelector("[data-testid=schema-form]") !== null`);
  await reach("[data-field=n] input");
  await typed("4");
  await reach("[data-testid=schema-submit]");
  await press(ENTER);
  assert.equal((await askedFor("call")).arguments.n, 4);
  await is(`document.querySelector("[data-testid=outcome][data-state=done]") !== null`);
  await kept("after it was called");
});

test("change_the_model", options, async () => {
  await open("#settings/model");
  await is(`document.querySelector(".models li") !== null && document.querySelector("[data-testid=setting-LLM_MODEL]") !== null`);
  await reach(".models li:nth-child(2) button");
  await press(ENTER);
  await is(`document.querySelector("[data-testid=setting-LLM_MODEL]").value === "qwen3"`);
  await kept("after it was chosen");
  await reach("[data-testid=model-form] button");
  await press(ENTER);
  assert.deepEqual(await askedFor("settings"), { LLM_PROVIDER: "ollama", LLM_MODEL: "qwen3" });
  await is(`document.querySelector("[data-testid=model-form] .form-state").textContent !== ""`);
  await kept("after it was saved");
});
