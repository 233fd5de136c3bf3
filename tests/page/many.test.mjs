// A conversation of 800 messages in a real browser: few rows stand in the page, each frame is
// carried once, and what a person reads does not move. Counts and places; what 2,000 take is
// measured by `bench.mjs`.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { longFrames, streamedPieces } from "./support/long.mjs";
import { pageOf, serveTalk } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const options = { skip, timeout: 120_000 };
const MOST_ROWS = 400;
const TURNS = 400;
let browser;
let server;
let carried = 0;

before(async () => {
  if (skip) return;
  const frames = ({ search }) => {
    const page = pageOf(server.world.frames, search);
    carried += JSON.stringify(page).length;
    return page;
  };
  server = await serveTalk(longFrames(TURNS), { api: { "/api/conversations/1/frames": frames } });
  browser = await startBrowser();
  await browser.size(1280, 900);
});
after(async () => {
  await browser?.end();
  server?.end();
});

const ROWS = `const rows = [...document.querySelectorAll("l3-messages:not([hidden]) .rows > *")];`;
const count = () => browser.js(`${ROWS} return rows.length`);
const frames = (many = 2) => browser.later(`const done = arguments[1]; let left = arguments[0]; const next = () => (left -= 1) < 0 ? done() : requestAnimationFrame(next); next()`, many);
/** Waits until all rows are made, let go of and drawn that are to be, and nothing more is on its way. */
const calm = () => browser.later(`
  const [done] = arguments;
  const list = document.querySelector("l3-messages:not([hidden])");
  let still = 0;
  const next = () => {
    still = list.growing === undefined && list.coming === undefined ? still + 1 : 0;
    return still > 3 ? done() : requestAnimationFrame(next);
  };
  next();`);
const says = (text) => browser.waitFor(`${ROWS} return rows.some((row) => row.textContent.includes(arguments[0]))`, text);
const scroll = (script) => browser.js(`const scroller = document.querySelector("l3-messages:not([hidden]) .scroller"); ${script}`);
const AT_END = `const scroller = document.querySelector("l3-messages:not([hidden]) .scroller"); return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 2`;
const atEnd = () => browser.js(AT_END);
/** The row in the middle of what is in sight, and where it is. */
const MIDDLE = `${ROWS} const middle = rows.find((row) => row.getBoundingClientRect().bottom > innerHeight / 2);`;
const middle = () => browser.js(`${MIDDLE} return { key: middle.shownRow.key, top: middle.getBoundingClientRect().top }`);
const whereIs = (key) => browser.js(`${ROWS} return rows.find(({ shownRow }) => shownRow.key === arguments[0]).getBoundingClientRect().top`, key);

/** Opens the conversation, and waits until its last turn is there, and all around it: a slow machine draws in between, and rows are there before the line is. */
async function open() {
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  const { turn } = server.world.frames.at(-1);
  await browser.waitFor(`${ROWS} const last = rows.at(-1); return last?.shownRow.key === "foot:${turn}" && last.querySelector("button") !== null`);
  await browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=connected]") !== null`);
  await calm();
}

async function turnNow(turn, pieces) {
  server.record({ type: "turn", turn, state: "queued", origin: "message", content: `Message ${turn}.` });
  server.record({ type: "turn", turn, state: "running" });
  for (const piece of pieces) server.delta(turn, piece);
  const answer = pieces.join("");
  return () => {
    server.record({ type: "assistant", content: answer, turn, step: 1, final: true });
    server.record({ type: "turn", turn, state: "completed", usage: { requests: 1, input_tokens: 9, output_tokens: 8, cost_micros: null }, ms: 900 });
  };
}

/** Reads all of history, as a person does who presses the button at the top again and again. */
async function readAll() {
  for (;;) {
    await scroll(`scroller.scrollTop = 0`);
    await frames();
    const state = await browser.js(`${ROWS} const button = document.querySelector("l3-messages:not([hidden]) .earlier"); const first = rows[0].textContent; if (button.checkVisibility()) button.click(); return { first, more: button.checkVisibility() }`);
    if (!state.more && state.first.includes("Message 1.")) return;
  }
}

test("a_long_conversation_opens_with_few_rows_at_its_end", options, async () => {
  await open();
  await calm();
  assert.ok(await atEnd());
  const rows = await count();
  assert.ok(rows > 20 && rows <= MOST_ROWS, `${rows} rows`);
});

test("what_is_written_at_the_end_keeps_a_person_there_who_is_there", options, async () => {
  await open();
  const end = await turnNow(2001, streamedPieces(400));
  await browser.waitFor(`return document.querySelector("[data-streaming=true]")?.textContent.length > 2000`);
  // While it grows, it may be looked at between its text and the frame that takes a person along.
  await browser.waitFor(AT_END);
  end();
  await browser.waitFor(`${ROWS} return rows.at(-1).dataset.kind === "foot" && document.querySelector("[data-streaming=true]") === null`);
  await frames(3);
  assert.ok(await atEnd());
  assert.ok((await count()) <= MOST_ROWS);
});

test("what_is_read_does_not_move_when_something_is_written_below_or_loaded_above", options, async () => {
  await open();
  await scroll(`scroller.scrollTop -= 2500`);
  await calm();
  const one = await middle();
  const end = await turnNow(2002, streamedPieces(300));
  await browser.waitFor(`return document.querySelector("l3-messages:not([hidden]) .newer").checkVisibility()`);
  end();
  await frames(10);
  assert.ok(Math.abs((await whereIs(one.key)) - one.top) < 2, "something was written below");

  // At the very top, with the button in sight, where a page comes in above.
  await scroll(`scroller.scrollTop = 0`);
  await browser.waitFor(`const scroller = document.querySelector("l3-messages:not([hidden]) .scroller"); if (document.querySelector("l3-messages:not([hidden]) .earlier").checkVisibility() && scroller.scrollTop < 5) return true; scroller.scrollTop = 0; return false`);
  await frames(5);
  const two = await middle();
  const known = `return document.querySelector("l3-messages:not([hidden])").view.rows.length`;
  const rows = await browser.js(known);
  await browser.js(`document.querySelector("l3-messages:not([hidden]) .earlier").click()`);
  await browser.waitFor(`${known} > arguments[0]`, rows);
  await calm();
  const moved = (await whereIs(two.key)) - two.top;
  assert.ok(Math.abs(moved) < 60, `a page came in above, and it moved by ${moved}`);
});

test("all_of_history_is_carried_once_and_few_rows_stand_in_the_page_wherever_a_person_is", options, async () => {
  carried = 0;
  await open();
  await readAll();
  const whole = JSON.stringify(server.world.frames).length;
  assert.ok(carried > 0.99 * whole && carried < 1.01 * whole, `${carried} of ${whole} bytes`);
  const all = await browser.js(`return document.querySelector("l3-messages:not([hidden])").view.rows.filter(({ kind }) => kind === "user").map(({ content }) => Number(/Message (\\d+)/.exec(content)[1]))`);
  assert.deepEqual(all, [...new Set(all)].sort((a, b) => a - b), "each once, and in order");
  assert.ok(all.length >= TURNS);
  for (const part of [0, 0.5, 0.9, 0.25, 1]) {
    await scroll(`scroller.scrollTop = ${part} * scroller.scrollHeight`);
    await calm();
    assert.ok((await count()) <= MOST_ROWS, `${await count()} rows at ${part}`);
    assert.equal(await browser.js(`${MIDDLE} return middle.matches("l3-gap")`), false, "there is something to read");
  }
  assert.ok(await atEnd());
});

test("what_is_read_stands_still_while_rows_are_made_around_it", options, async () => {
  await open();
  await readAll();
  await browser.js(`document.querySelector("l3-messages:not([hidden])").toEnd()`);
  // Farther than rows are made ahead, again and again: the rows that come are taller or lower than
  // was thought.
  for (let jump = 0; jump < 5; jump += 1) {
    await scroll(`scroller.scrollTop -= 9000`);
    await frames(2);
    const one = await middle();
    await calm();
    const moved = (await whereIs(one.key)) - one.top;
    assert.ok(Math.abs(moved) < 2, `${one.key} stands still, and moved by ${moved} at jump ${jump}`);
  }
});

test("what_a_person_opened_is_open_when_they_come_back", options, async () => {
  await open();
  await browser.waitFor(`${ROWS} const card = rows.findLast(({ dataset }) => dataset.kind === "steps")?.querySelector("summary"); card?.scrollIntoView(); card?.click(); return card !== undefined && card !== null`);
  const opened = `return document.querySelectorAll("l3-messages:not([hidden]) l3-steps > details[open]").length`;
  assert.equal(await browser.js(opened), 1);
  const before = await scroll(`return scroller.scrollTop`);
  await scroll(`scroller.scrollTop = 0`);
  await frames(10);
  assert.equal(await browser.js(opened), 0, "it is no more in the page");
  await scroll(`scroller.scrollTop = ${before}`);
  await browser.waitFor(`${opened} === 1`);
});

test("a_row_with_the_focus_stays_and_the_next_tab_goes_on_from_there", options, async () => {
  await open();
  await browser.waitFor(`const last = [...document.querySelectorAll("l3-foot button")].at(-1); last?.focus(); return document.activeElement === last`);
  await scroll(`scroller.scrollTop = 0`);
  await calm();
  assert.ok(await browser.js(`return document.activeElement.matches("l3-foot button")`));
  assert.ok((await count()) <= MOST_ROWS);
  await scroll(`scroller.scrollTop = scroller.scrollHeight`);
  await calm();
  assert.ok(await browser.js(`${ROWS} return document.activeElement.matches("l3-foot button") && rows.at(-1).contains(document.activeElement)`));
});

test("at_the_end_again_few_rows_are_there_and_a_person_stays_there", options, async () => {
  await open();
  await readAll();
  await browser.js(`document.activeElement.blur(); document.querySelector("l3-messages:not([hidden])").toEnd()`);
  (await turnNow(2003, ["Short."]))();
  await says("Short.");
  await calm();
  assert.ok((await count()) <= MOST_ROWS);
  assert.ok(await atEnd());
});

test("the_key_for_the_message_before_reaches_rows_that_were_not_made", options, async () => {
  await open();
  const up = `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp", altKey: true, bubbles: true, cancelable: true }))`;
  const seen = [];
  for (let press = 0; press < 60; press += 1) {
    await browser.js(up);
    seen.push(await browser.js(`return Number(/Message (\\d+)/.exec(document.activeElement.textContent)?.[1])`));
  }
  assert.deepEqual(seen.slice(1), seen.slice(0, -1).map((turn) => (turn > 2000 ? (turn === 2001 ? TURNS : turn - 1) : turn - 1)));
});

test("a_conversation_opens_at_an_approval_that_waits_far_above_its_end_and_leads_back_there", options, async () => {
  const asked = { tool: "execute_sql", arguments: { query: "DELETE FROM books" }, what: ["Deletes all rows of `books`."], why: "It deletes rows.", can_always: false };
  server.record({ type: "turn", turn: 3001, state: "queued", origin: "message", content: "Message 3001." });
  server.record({ type: "turn", turn: 3001, state: "running" });
  server.record({ type: "tool_call", name: "execute_sql", arguments: asked.arguments, call: 90_001, turn: 3001 });
  server.record({ type: "approval", id: 77, state: "pending", call: 90_001, turn: 3001, ...asked, expires_at: new Date(Date.now() + 3_600_000).toISOString() });
  for (let turn = 3002; turn < 3200; turn += 1) server.record({ type: "turn", turn, state: "queued", origin: "message", content: `Message ${turn}.` });
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  const isInSight = `const box = document.querySelector("l3-approval[data-state=pending] h2")?.getBoundingClientRect(); return Boolean(box && box.top > 0 && box.bottom < innerHeight)`;
  await browser.waitFor(isInSight);
  await calm();
  assert.ok(await browser.js(isInSight), "rows that are made around it do not push it away");
  assert.ok(await browser.js(`return document.querySelector("l3-messages:not([hidden]) .newer").checkVisibility()`), "there is a way to the end");
  // From then on the place is the person's: more that comes moves nobody who went to the end.
  await browser.js(`document.querySelector("l3-messages:not([hidden]) .newer").click()`);
  await says("Message 3199.");
  server.record({ type: "turn", turn: 3200, state: "queued", origin: "message", content: "Message 3200." });
  await says("Message 3200.");
  await calm();
  assert.ok(await atEnd());
  await browser.js(`dispatchEvent(new CustomEvent("see-approval"))`);
  await browser.waitFor(isInSight);
});
