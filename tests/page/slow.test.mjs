// A slow line: lines stand for the part of Chat that is on its way, for rules in the settings, and
// for a place. A person may call each off and ask for it once more, without losing the focus.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { numbered, serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const options = { skip, timeout: 120_000 };
const FRAMES = numbered([...turnFrames(1, "First?", "The first answer."), ...turnFrames(2, "Second?", "The second answer.")]);
const OTHER = numbered(turnFrames(91, "Old plans of mine", "Here they are.")).map((frame) => ({ ...frame, conversation: 31 }));

let browser;
let server;
/** The answers that are held back. */
let held;
/** A file that cannot be had, and one that is held back. */
let missing;
let late;
const hold = (answer) => () => new Promise((resolve) => held.push(() => resolve(answer)));
const release = () => held.splice(0).forEach((go) => go());

before(async () => {
  if (skip) return;
  browser = await startBrowser();
  await browser.size(1280, 900);
});
after(() => browser?.end());
beforeEach(async () => {
  if (skip) return;
  held = [];
  missing = undefined;
  late = undefined;
  const older = hold({ frames: FRAMES.slice(0, 4), before: null });
  server = await serveTalk([], {
    frames: FRAMES,
    change: ({ path, text }) => (path === missing ? Promise.reject(new Error(path)) : path === late ? hold(text)() : text),
    api: {
      "/api/conversations/1/frames": ({ search }) => (search.has("before") ? older() : { frames: FRAMES.slice(4), before: FRAMES[4].seq }),
      "/api/conversations/31/frames": hold({ frames: OTHER, before: null }),
      "/api/search": hold({ found: [] }),
    },
  });
});
afterEach(() => {
  if (skip) return;
  release();
  server.end();
});

async function open(hash) {
  await browser.go("about:blank");
  await browser.go(`${server.address}${hash}`);
  await browser.waitFor(`return document.querySelector("[data-testid=connection]")?.dataset.state === "connected"`);
}
const is = (css) => browser.waitFor(`return document.querySelector(arguments[0]) !== null`, css);
const isNot = (css) => browser.waitFor(`return document.querySelector(arguments[0]) === null`, css);
const click = (css) => browser.js(`document.querySelector(arguments[0]).click()`, css);
/** Does as the button that comes after a while, with the focus in its place. */
async function callOff(css) {
  await browser.waitFor(`const lines = document.querySelector(arguments[0]); const button = lines.querySelector("button") ?? lines.appendChild(document.createElement("button")); button.focus(); return document.activeElement === button`, css);
  await browser.js(`document.querySelector(arguments[0]).cancel()`, css);
}
const hasFocus = (css) => browser.js(`return document.querySelector(arguments[0]) === document.activeElement`, css);
/** Waits until the server holds so many answers back. */
async function holds(count) {
  for (let tries = 0; tries < 400 && held.length < count; tries += 1) await browser.js("return 0");
  assert.equal(held.length, count, "the server was asked so often");
}
const search = (text) => browser.js(`const field = document.querySelector("[data-testid=conversation-search]"); field.value = arguments[0]; field.dispatchEvent(new Event("input", { bubbles: true }))`, text);

test("a_conversation_that_is_on_its_way_has_lines_in_its_place", options, async () => {
  const shown = "l3-messages:not([hidden])";
  await open("#chat/31");
  await is(`${shown} l3-waiting`);
  await callOff(`${shown} l3-waiting`);
  await is(`${shown} .error-state button`);
  await click(`${shown} .error-state button`);
  await is(`${shown} l3-waiting`);
  release();
  await browser.waitFor(`return document.querySelector(arguments[0]).innerText.includes("Here they are.")`, shown);
  await isNot(`${shown} l3-waiting`);
});

test("earlier_messages_that_are_on_their_way_have_lines_and_can_be_waited_for_once_more", options, async () => {
  const lines = ".earlier + l3-waiting";
  await open("#chat");
  await browser.waitFor(`return document.querySelector(".earlier")?.checkVisibility()`);
  await click(".earlier");
  await is(lines);
  await callOff(lines);
  await isNot(lines);
  assert.ok(await hasFocus(".earlier"));
  await click(".earlier");
  await is(lines);
  await holds(1);
  release();
  await browser.waitFor(`return document.querySelector("l3-messages:not([hidden])").innerText.includes("The first answer.")`);
  await isNot(lines);
});

test("a_search_in_the_list_that_takes_long_has_lines_and_can_be_given_up", options, async () => {
  const lines = "[data-testid=conversation-search] + l3-waiting";
  await open("#chat");
  await search("plans");
  await is(lines);
  await callOff(lines);
  await isNot(lines);
  assert.equal(await browser.js(`return document.querySelector("[data-testid=conversation-search]").value`), "");
  assert.ok(await hasFocus("[data-testid=conversation-search]"));
  await holds(1);
  release();
  await search("plan");
  await is(lines);
  await holds(1);
  release();
  await isNot(lines);
  await browser.waitFor(`return document.querySelector(".conversation-panel > .none").innerText.includes("plan")`);
});

test("a_search_whose_code_cannot_be_had_says_so_and_leaves_no_lines", options, async () => {
  missing = "chat/found.js";
  await open("#chat");
  await search("plans");
  await browser.waitFor(`return document.querySelector(".conversation-panel > .none").innerText.includes("could not be loaded")`);
  await isNot("[data-testid=conversation-search] + l3-waiting");
});

test("lines_that_take_no_room_at_first_take_none_without_motion_either", options, async (t) => {
  await browser.media({ "prefers-reduced-motion": "reduce" });
  t.after(() => browser.media({ "prefers-reduced-motion": "no-preference" }));
  await open("#chat");
  await search("plans");
  await is("[data-testid=conversation-search] + l3-waiting");
  const names = await browser.js(`return ["", " i"].map((part) => getComputedStyle(document.querySelector("[data-testid=conversation-search] + l3-waiting" + part)).animationName)`);
  assert.deepEqual(names, ["arrive", "none"]);
});

test("the_rules_of_tools_that_are_on_their_way_can_be_called_off", options, async () => {
  server.world.api["/api/mcp"] = hold({ servers: [] });
  await open("#settings/policy");
  await is("[data-testid=rules] l3-waiting");
  await callOff("[data-testid=rules] l3-waiting");
  assert.ok(await hasFocus("[data-testid=rules] .error-state button"));
  await click("[data-testid=rules] .error-state button");
  await is("[data-testid=rules] l3-waiting");
  for (let tries = 0; tries < 400 && held.length < 2; tries += 1) await browser.js("return 0");
  release();
  await is("[data-testid=rules] .rule");
});

test("a_place_that_is_on_its_way_can_be_called_off", options, async () => {
  const place = ".place[data-place=activity]";
  late = "activity/index.js";
  await open("#activity");
  await is(`${place} l3-waiting`);
  await callOff(`${place} l3-waiting`);
  assert.ok(await hasFocus(`${place} .error-state button`));
  await holds(1);
  release();
  await click(`${place} .error-state button`);
  await is(`${place} .activity-view`);
});
