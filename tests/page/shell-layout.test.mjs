// The frame of the page in windows of three sizes: rail, list and column on a desk, the list as a
// drawer in between, and a phone with its keyboard, a question that is long, and a week.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const options = { skip, timeout: 120_000 };
const [ENTER, ESCAPE] = ["\uE007", "\uE00C"];
const REM = 16;
const DESK = [1440, 900];
const BETWEEN = [820, 1100];
const PHONE = [390, 844];

let browser;
let server;
before(async () => {
  if (skip) return;
  browser = await startBrowser();
  await browser.media({ "prefers-reduced-motion": "reduce" });
});
after(() => browser?.end());
afterEach(() => server?.end());

const connected = `return document.querySelector("[data-testid=connection]")?.dataset.state === "connected"`;
async function open([width, height], { hash = "#chat", frames = turnFrames(1, "Hello?", "Hello."), ...world } = {}) {
  server = await serveTalk(frames, world);
  await browser.size(width, height);
  await browser.go("about:blank");
  await browser.go(`${server.address}${hash}`);
  await browser.waitFor(connected);
}
async function reload() {
  await browser.js(`window.isOld = true; location.reload()`);
  await browser.waitFor(`return !window.isOld && document.readyState === "complete"`);
  await browser.waitFor(connected);
}
const answered = () => browser.waitFor(`return document.querySelector("l3-foot") !== null`);
const is = (script, ...all) => browser.waitFor(`return ${script}`, ...all);
const box = (css) => browser.js(`const { left, right, top, bottom, width, height } = document.querySelector(arguments[0]).getBoundingClientRect(); return { left, right, top, bottom, width, height }`, css);
const isSeen = (css) => browser.js(`return document.querySelector(arguments[0])?.checkVisibility() === true`, css);
const hasFocus = (css) => is(`document.activeElement?.matches(arguments[0])`, css);
/** A press of the pointer at a place of the window. */
async function pressAt(x, y) {
  for (const type of ["mousePressed", "mouseReleased"]) await browser.cdp("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
}

test("on_a_desk_rail_list_and_column_have_their_widths", options, async () => {
  await open(DESK);
  await answered();
  const [rail, list, rows, field] = await Promise.all(["l3-rail", ".conversation-panel", "l3-messages:not([hidden]) .rows", "l3-composer form"].map(box));
  assert.deepEqual([rail.left, rail.width, rail.height], [0, 4 * REM, 900]);
  assert.deepEqual([list.left, list.width], [4 * REM, 17 * REM]);
  assert.deepEqual([rows.width, field.width], [46 * REM, 46 * REM]);
  assert.equal(rows.left + rows.right, list.right + 1440, "in the middle of what is left");
  const [label] = await browser.js(`return [...document.querySelectorAll("[data-testid=place-tasks] > span")].map((node) => node.innerText)`);
  assert.equal(label, "Tasks", "a place has its name beside its icon");
});

test("a_key_folds_the_list_away_and_a_reload_leaves_it_so", options, async () => {
  await open(DESK);
  await answered();
  const fold = async (isThere) => {
    await browser.js(`document.activeElement.blur()`);
    await browser.keys("[");
    await is(`document.querySelector(".conversation-panel").checkVisibility() === arguments[0]`, isThere);
  };
  await fold(false);
  assert.equal((await box(".column")).left, 4 * REM, "the column has the room");
  await reload();
  await answered();
  assert.equal(await isSeen(".conversation-panel"), false);
  await fold(true);
  await reload();
  await answered();
  assert.equal(await isSeen(".conversation-panel"), true);
  await browser.js(`document.querySelector("l3-conversations [data-testid=new-chat]").focus()`);
  await browser.keys("[");
  await hasFocus("[data-testid=list-open]");
});

test("between_desk_and_phone_the_list_is_a_drawer", options, async () => {
  await open(BETWEEN);
  await answered();
  assert.equal((await box("l3-rail")).width, 3.5 * REM, "a rail of icons");
  assert.ok((await box("[data-testid=place-tasks] > span")).width <= 1, "whose names are for screen readers");
  const [, middle] = BETWEEN.map((side) => side / 2);
  const onTop = () => browser.js(`return document.elementFromPoint(...arguments).closest(".conversation-veil, .conversation-panel, .column")?.className`, 600, middle);
  const openDrawer = async () => {
    await browser.js(`document.querySelector("[data-testid=list-open]").focus()`);
    await browser.keys(ENTER);
    await hasFocus("[data-testid=conversation-search]");
  };
  const isClosed = async () => {
    await hasFocus("[data-testid=list-open]");
    assert.deepEqual([await isSeen(".conversation-panel"), await onTop()], [false, "column"]);
  };
  assert.deepEqual([await isSeen(".conversation-panel"), await onTop()], [false, "column"]);
  const before = await box(".column");
  await openDrawer();
  const { left, width, height } = await box(".conversation-panel");
  assert.deepEqual([left, width, height], [0, 17 * REM, BETWEEN[1]]);
  assert.equal(await onTop(), "conversation-veil");
  assert.deepEqual(await box(".column"), before, "it moves nothing");
  await browser.keys(ESCAPE);
  await isClosed();

  // A press beside what stands in it closes nothing, and Escape means the drawer and not the turn.
  server.record({ type: "turn", turn: 2, state: "queued", origin: "message", content: "Go on." });
  server.record({ type: "turn", turn: 2, state: "running" });
  await is(`document.querySelector("[data-testid=stop]").checkVisibility()`);
  await openDrawer();
  await pressAt(100, BETWEEN[1] - 100);
  assert.equal(await isSeen(".conversation-panel"), true);
  await browser.keys(ESCAPE);
  await isClosed();

  await openDrawer();
  await pressAt(600, middle);
  await isClosed();
  assert.deepEqual(server.heard.filter(({ type }) => type === "stop"), []);
});

test("a_conversation_that_is_chosen_in_the_drawer_closes_it_and_keeps_the_focus", options, async () => {
  const other = { id: 8, title: "Weather", profile: "builder", main: false, active_at: new Date().toISOString(), running: false, waiting: false, pinned: false, archived: false };
  await open(BETWEEN, { api: { "/api/conversations": { conversations: [other], next: null }, "/api/conversations/8/frames": { frames: [], before: null } } });
  await answered();
  await browser.js(`document.querySelector("[data-testid=list-open]").click()`);
  await is(`document.querySelector("l3-conversation a[href='#chat/8']") !== null`);
  await browser.js(`document.querySelector("l3-conversation a[href='#chat/8']").focus()`);
  await browser.keys(ENTER);
  await is(`location.hash === "#chat/8" && !document.querySelector(".conversation-panel").checkVisibility()`);
  await hasFocus("[data-testid=list-open]");
});

test("on_a_phone_the_composer_stands_above_the_bar_and_above_the_keyboard", options, async () => {
  await open(PHONE, { frames: turnFrames(1, "Hello?", "It is so.\n\n".repeat(60)) });
  await answered();
  const [bar, field] = await Promise.all(["l3-rail", "l3-composer form"].map(box));
  assert.deepEqual([bar.left, bar.width, bar.bottom, bar.height], [0, 390, 844, 3.5 * REM]);
  assert.ok(field.bottom <= bar.top && field.bottom > bar.top - 40, `${field.bottom} above ${bar.top}`);
  await browser.js(`document.querySelector("[data-testid=composer]").focus()`);
  /** The keyboard leaves this much of the window to be seen. */
  const leaves = (height) => browser.js(`Object.defineProperty(visualViewport, "height", { configurable: true, value: arguments[0] }); visualViewport.dispatchEvent(new Event("resize"))`, height);
  await leaves(500);
  assert.equal(await isSeen("l3-rail"), false, "the bar makes room");
  const above = await box("l3-composer form");
  assert.ok(above.bottom <= 500 && above.bottom > 460 && above.top > 300, `${above.top} to ${above.bottom}`);
  // The end of the answer is still read above it.
  await is(`document.querySelector("l3-foot").getBoundingClientRect().bottom <= arguments[0]`, above.top);
  assert.ok((await box("l3-foot")).top > (await box("l3-header")).bottom);
  await leaves(844);
  assert.deepEqual(await box("l3-composer form"), field);
  assert.equal(await isSeen("l3-rail"), true);
});

/** A question about a capability whose source has more lines than a screen. */
function longQuestion() {
  const source = Array.from({ length: 200 }, (_, line) => `const line${line} = ${line};`).join("\n");
  const asked = { tool: "write_capability", arguments: { name: "weather" }, what: ["Installs a new capability, `weather`."], why: "It asks for powers that nobody has approved yet.", can_always: false };
  const capability = { name: "weather", language: "javascript", replaces: null, diff: null, source, grants: { http: { hosts: ["api.example.com"] } }, grants_in_words: ["Send any request to https://api.example.com."] };
  return [
    ...turnFrames(1, "Hello?", "Hello."),
    { type: "turn", turn: 2, state: "queued", origin: "message", content: "And the weather?" },
    { type: "turn", turn: 2, state: "running" },
    { type: "tool_call", name: "write_capability", arguments: { name: "weather" }, call: 3, turn: 2 },
    { type: "approval", id: 5, state: "pending", call: 3, turn: 2, ...asked, capability, expires_at: new Date(Date.now() + 3_600_000).toISOString() },
  ];
}

test("on_a_phone_deny_and_approve_are_in_sight_from_the_beginning_of_a_long_question_to_its_end", options, async () => {
  await open(PHONE, { frames: longQuestion() });
  await is(`document.querySelector("l3-approval[data-state=pending] [data-testid=fold-open]") !== null`);
  /** Both in sight, side by side, with nothing over them; and how far the conversation is scrolled. */
  const both = () => browser.js(`
    const [deny, approve] = ["deny", "approve"].map((name) => document.querySelector("[data-testid=approval-" + name + "]"));
    const scroller = document.querySelector("l3-messages:not([hidden]) .scroller");
    const inside = scroller.getBoundingClientRect();
    const boxes = [deny, approve].map((node) => node.getBoundingClientRect());
    const whole = boxes.every(({ top, bottom, left, right }) => top >= inside.top && bottom <= inside.bottom && left >= 0 && right <= innerWidth);
    const free = [deny, approve].every((node, at) => document.elementFromPoint((boxes[at].left + boxes[at].right) / 2, (boxes[at].top + boxes[at].bottom) / 2) === node);
    const heading = document.querySelector("l3-approval header").getBoundingClientRect();
    return { whole, free, together: boxes[0].top === boxes[1].top, tall: boxes[0].height >= 44, heading: heading.top >= inside.top && heading.bottom <= inside.bottom, atEnd: scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 2 };`);
  const good = { whole: true, free: true, together: true, tall: true };
  const scroll = (to) => browser.later(`const [to, done] = arguments; const scroller = document.querySelector("l3-messages:not([hidden]) .scroller"); scroller.scrollTop = to * (scroller.scrollHeight - scroller.clientHeight); requestAnimationFrame(() => requestAnimationFrame(() => done()))`, to);
  await is(`document.querySelector("l3-approval header").getBoundingClientRect().top >= 0`);
  assert.deepEqual(await both(), { ...good, heading: true, atEnd: false }, "as one comes to it");
  await browser.js(`document.querySelector("[data-testid=fold-open]").click()`);
  await is(`document.querySelector("[data-testid=fold-open]") === null`);
  const end = await (await scroll(1), both());
  assert.deepEqual(end, { ...good, heading: false, atEnd: true }, "at its end");
  assert.deepEqual(await (await scroll(0.5), both()), { ...good, heading: false, atEnd: false }, "in its middle");
  await browser.js(`document.querySelector("l3-approval header").scrollIntoView()`);
  assert.deepEqual(await both(), { ...good, heading: true, atEnd: false }, "and at its beginning");
});

test("an_open_task_has_an_address_and_back_leads_to_where_it_was_opened", options, async () => {
  const task = (id, title) => ({ id, title, details: "", status: "pending", due_at: null, updated_at: new Date().toISOString() });
  const api = { "/api/tasks": { tasks: [task(1, "Paint"), task(2, "Water")], more: false } };
  const press = (id) => browser.js(`document.querySelector("[data-task='" + arguments[0] + "'] .task-title").click()`, id);
  const isOpen = (id) => is(`location.hash === "#tasks/" + arguments[0] && document.querySelector("dialog.details h2")?.innerText.includes(arguments[0])`, id);
  const isShut = (hash) => is(`location.hash === arguments[0] && document.querySelector("dialog.details") === null`, hash);
  await open(PHONE, { hash: "#tasks", api });
  await is(`document.querySelectorAll("l3-task").length === 2`);
  const entries = await browser.js("return history.length");
  await press(1);
  await isOpen(1);
  await browser.js("history.back()");
  await isShut("#tasks");
  await press(2);
  await isOpen(2);
  await browser.js(`document.querySelector(".details-back").click()`);
  await isShut("#tasks");
  await hasFocus("[data-task='2'] .task-title");
  assert.equal(await browser.js("return history.length"), entries + 1, "each way back takes its entry along");
  await browser.js(`location.hash = "#tasks/week"`);
  await is(`document.querySelector(".week-bar")?.checkVisibility()`);
  await press(1);
  await isOpen(1);
  await is(`document.querySelector(".week-bar")?.checkVisibility()`);
  await browser.js("history.back()");
  await isShut("#tasks/week");
  // On a desk the next one is opened beside the list.
  await browser.size(...DESK);
  await press(1);
  await isOpen(1);
  await press(2);
  await isOpen(2);
  await browser.js("history.back()");
  await isShut("#tasks/week");
  await browser.js(`location.hash = "#tasks/2"`);
  await isOpen(2);
  await browser.js(`document.querySelector(".details-close").click()`);
  await isShut("#tasks/week");
});

test("on_a_phone_the_week_is_one_day_and_the_arrows_go_from_day_to_day", options, async () => {
  const noon = (later) => {
    const now = new Date();
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() + later, 12);
  };
  const name = (day) => `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`;
  const task = (id, title, later) => ({ id, title, details: "", status: "pending", due_at: noon(later).toISOString(), updated_at: new Date().toISOString() });
  await open(PHONE, { hash: "#tasks/week", api: { "/api/tasks": { tasks: [task(1, "Yesterday's", -1), task(2, "Today's", 0), task(3, "Tomorrow's", 1)], more: false } } });
  const day = async (title, later) => {
    const form = new Intl.DateTimeFormat("en-US", { weekday: "short", day: "numeric", month: "long" });
    await is(`document.querySelector(".week-bar h2").innerText === arguments[0]`, form.format(noon(later)));
    const shown = await browser.js(`return [...document.querySelectorAll(".week-day")].filter((node) => node.checkVisibility()).map((node) => [...node.querySelectorAll(".task-title")].map((title) => title.innerText).join())`);
    assert.deepEqual(shown, [title]);
  };
  const press = async (way, later) => {
    await browser.js(`document.querySelector("[data-testid=week-" + arguments[0] + "]").click()`, way);
    await is(`location.hash === arguments[0]`, `#tasks/week/${name(noon(later))}`);
  };
  await is(`document.querySelector(".week-day[data-chosen] l3-task") !== null`);
  await day("Today's", 0);
  assert.equal((await box(".week-day[data-chosen]")).width > 300, true);
  await press("after", 1);
  await day("Tomorrow's", 1);
  await press("before", 0);
  await press("before", -1);
  await day("Yesterday's", -1);
  await browser.js(`document.querySelector("[data-testid=week-now]").click()`);
  await day("Today's", 0);
});
