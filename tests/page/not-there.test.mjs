// Things that are not in sight or cannot be had: conversations that were put away, a server that
// cannot be asked, addresses that name nothing; and a conversation as a file.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { numbered, serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { workedFrames } from "./support/worked.mjs";
import { fullWorld } from "./support/worlds.mjs";

const options = { skip, timeout: 120_000 };
const [ENTER, CONTROL, DOWN] = ["\uE007", "\uE009", "\uE015"];
const REFUSED = { refused: 503, error: "The database does not answer." };
const { api: FULL } = fullWorld(Date.now());
const entry = (id, title) => ({ id, title, profile: "builder", main: false, active_at: new Date().toISOString(), running: false, waiting: false, pinned: false, archived: true });

let browser;
let server;
/** The answer to a question for archived conversations behind a place, and to a search. */
let archived;
/** The answer to a question for the others behind a place. */
let kept;
let found;
/** The forms in which conversation 8 was asked for as a file. */
let saved;

before(async () => {
  if (skip) return;
  browser = await startBrowser();
  await browser.size(1280, 900);
  await browser.media({ "prefers-reduced-motion": "reduce" });
  await browser.cdp("Page.setDownloadBehavior", { behavior: "deny" });
});
after(() => browser?.end());
beforeEach(async () => {
  if (skip) return;
  saved = [];
  archived = () => ({ conversations: [], next: null });
  found = () => ({ found: [] });
  kept = () => FULL["/api/conversations"];
  const api = {
    ...FULL,
    "/api/approvals": { approvals: [] },
    "GET /api/conversations": ({ search }) => (search.has("archived") ? archived(search.get("after")) : kept(search.get("after"))),
    "/api/conversations/31/frames": { frames: numbered(turnFrames(91, "Old plans of mine", "Here they are.")).map((frame) => ({ ...frame, conversation: 31 })), before: null },
    "/api/conversations/8/export": ({ search }) => (saved.push(search.get("format")), { conversation: 8 }),
    "/api/search": () => found(),
  };
  server = await serveTalk(workedFrames(), { api });
});
afterEach(() => server?.end());

async function open(hash) {
  await browser.go("about:blank");
  await browser.go(`${server.address}${hash}`);
  await browser.waitFor(`return document.querySelector("[data-testid=connection]")?.dataset.state === "connected"`);
}
const press = (text) => browser.js(`[...document.querySelectorAll("l3-conversations button")].find((node) => node.checkVisibility() && node.textContent === arguments[0]).click()`, text);
/** Waits until the list says exactly this below its entries. */
const said = (text) => browser.waitFor(`const node = document.querySelector(".conversation-panel > .none"); return node.checkVisibility() && node.textContent === arguments[0]`, text);
const titles = () => browser.js(`return [...document.querySelectorAll("l3-conversation .conversation-title")].map((node) => node.textContent)`);
const listed = (css) => browser.waitFor(`return document.querySelector(arguments[0]) !== null`, css);

test("more_is_offered_as_long_as_there_is_a_next_page_from_the_first_load_on", options, async () => {
  const isOffered = () => browser.js(`return [...document.querySelectorAll("l3-conversations button")].some((node) => node.textContent === "Show more" && node.checkVisibility())`);
  const page = (id, next) => ({ conversations: [{ ...entry(id, `Talk ${id}`), archived: false }], next });
  kept = () => page(8, null);
  await open("#chat");
  await browser.waitFor(`return document.querySelector("l3-conversation") !== null`);
  assert.equal(await isOffered(), false);

  kept = (after) => (after === "p2" ? page(7, null) : page(8, "p2"));
  await open("#chat");
  await browser.waitFor(`return document.querySelector("l3-conversation") !== null`);
  assert.equal(await isOffered(), true);
  await press("Show more");
  await browser.waitFor(`return document.querySelectorAll("l3-conversation").length === 2`);
  assert.equal(await isOffered(), false);
});

test("a_conversation_without_a_title_has_one_name", options, async () => {
  kept = () => ({ conversations: [{ ...entry(31, null), archived: false }], next: null });
  await open("#chat/31");
  await listed("l3-conversation");
  assert.deepEqual(await titles(), ["Conversation 31"]);
  await browser.waitFor(`return document.querySelector("l3-header h1").textContent === "Conversation 31"`);
});

test("what_was_put_away_is_reached_to_its_end_and_a_page_that_cannot_be_had_is_said", options, async () => {
  await open("#chat");
  await listed("l3-conversation a[href='#chat/8']");
  archived = () => REFUSED;
  await press("Archived");
  await said(REFUSED.error);
  await press("Archived");
  await listed("l3-conversation a[href='#chat/8']");
  archived = () => ({ conversations: [], next: null });
  await press("Archived");
  await said("Nothing is archived.");
  await press("Archived");
  archived = (place) => (place === null ? { conversations: [entry(31, "First")], next: "there" } : REFUSED);
  await press("Archived");
  await listed("l3-conversation a[href='#chat/31']");
  await press("Show more");
  await said(REFUSED.error);
  assert.deepEqual(await titles(), ["First"], "what was there stays");
  archived = (place) => ({ conversations: place === "there" ? [entry(32, "Second")] : [], next: null });
  await press("Show more");
  await listed("l3-conversation a[href='#chat/32']");
  assert.deepEqual(await titles(), ["First", "Second"]);
  assert.equal(await browser.js(`return [...document.querySelectorAll("l3-conversations button")].some((node) => node.checkVisibility() && node.textContent === "Show more")`), false);
});

test("a_list_that_cannot_be_had_is_tried_again_by_a_press", options, async () => {
  const again = `[...document.querySelectorAll(".conversation-panel > button")].find((node) => node.textContent === "Try again")`;
  kept = () => REFUSED;
  await open("#chat");
  await said(REFUSED.error);
  assert.equal(await browser.js(`return ${again}.checkVisibility()`), true);
  kept = () => FULL["/api/conversations"];
  await browser.js(`${again}.focus()`);
  await browser.keys(ENTER);
  await listed("l3-conversation a[href='#chat/8']");
  await browser.waitFor(`return !${again}.checkVisibility() && document.querySelector(".conversation-panel").contains(document.activeElement)`);
  assert.equal(await browser.js(`return document.querySelector(".conversation-panel > .none").checkVisibility()`), false);
});

test("a_server_that_is_gone_is_said_once_beside_the_sign_of_the_line", options, async () => {
  await browser.size(390, 844);
  await open("#chat");
  server.world.down = true;
  server.drop();
  await browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=offline]") !== null`);
  const told = await browser.js(`return ["l3-header", "l3-banners", "main", "l3-dock"].flatMap((css) => document.querySelector(css).innerText.match(/cannot be reached|offline/gi) ?? [])`);
  await browser.size(1280, 900);
  assert.deepEqual(told.map((word) => word.toLowerCase()).toSorted(), ["cannot be reached", "offline"], "the banner and the sign");
});

test("a_turn_that_is_not_there_is_said_with_a_way_to_those_that_are_and_names_in_a_refusal_are_code", options, async () => {
  await open("#activity/turn/99");
  await browser.waitFor(`return document.querySelector("[data-place=activity] [data-testid=empty]")?.innerText.startsWith("There is no turn 99 here")`);
  assert.equal(await browser.js(`return document.querySelector("[data-place=activity] [data-testid=empty] a").getAttribute("href")`), "#activity");
  server.world.api["/api/replay/turns/98"] = { refused: 503, error: "The key of `secret-key` cannot be used." };
  await open("#activity/turn/98");
  await browser.waitFor(`return document.querySelector("[data-place=activity] .error-state code")?.textContent === "secret-key"`);
  assert.ok(!(await browser.js(`return document.querySelector("[data-place=activity] .error-state").innerText`)).includes("\`"));
});

test("what_was_put_away_does_not_come_back_with_an_answer_that_was_on_its_way", options, async () => {
  const first = { conversations: [entry(31, "First")], next: null };
  await open("#chat");
  await listed("l3-conversation a[href='#chat/8']");
  archived = () => first;
  await press("Archived");
  await listed("l3-conversation a[href='#chat/31']");
  const held = [];
  archived = () => new Promise((resolve) => held.push(() => resolve(first)));
  server.say({ type: "changed", list: "conversations" });
  for (let tries = 0; tries < 400 && held.length === 0; tries += 1) await browser.js("return 0");
  assert.ok(held.length > 0, "the list is asked for anew");
  await press("Archived");
  await listed("l3-conversation a[href='#chat/8']");
  for (const go of held) go();
  await browser.waitFor(`return performance.getEntriesByType("resource").filter(({ name }) => name.includes("archived=true")).length === arguments[0]`, held.length + 1);
  await browser.later(`const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))`);
  assert.ok(!(await titles()).includes("First"));
});

test("a_conversation_that_was_put_away_has_its_title_also_at_its_address", options, async () => {
  // It is asked for by itself: no list is gone through for it.
  archived = () => REFUSED;
  server.world.api["/api/conversations/31"] = entry(31, "Old plans");
  await open("#chat/31");
  await browser.waitFor(`return document.querySelector("l3-header h1").textContent === "Old plans"`);
});

test("a_long_title_leaves_the_model_its_room_and_the_list_has_one_name", options, async () => {
  const page = { conversations: [{ ...entry(8, "A long title ".repeat(20)), archived: false }], next: null };
  kept = () => page;
  await open("#chat/8");
  await browser.waitFor(`return document.querySelector("l3-header h1").textContent.startsWith("A long title")`);
  assert.equal(await browser.js(`return [...document.querySelectorAll(".model > *")].every((part) => part.scrollWidth <= part.clientWidth + 1)`), true);
  const name = `return document.querySelector("[data-testid=list-open] svg").getAttribute("aria-label")`;
  assert.equal(await browser.js(name), "Conversations", "whether it is shown or not");
});

test("the_list_hears_what_was_changed_in_another_window", options, async () => {
  const change = () => server.say({ type: "changed", list: "conversations" });
  await open("#chat");
  await listed("l3-conversation a[href='#chat/8']");
  kept = () => ({ conversations: [], next: null });
  change();
  await browser.waitFor(`return document.querySelector("l3-conversation a[href='#chat/8']") === null`);
  kept = () => FULL["/api/conversations"];
  change();
  await listed("l3-conversation a[href='#chat/8']");
  await press("Archived");
  await said("Nothing is archived.");
  archived = () => ({ conversations: [entry(31, "First")], next: null });
  change();
  await listed("l3-conversation a[href='#chat/31']");
});

test("a_conversation_is_saved_as_a_file_by_keyboard", options, async () => {
  await open("#chat");
  await listed("l3-conversation a[href='#chat/8']");
  for (const [index, name] of ["Save as Markdown", "Save as JSON"].entries()) {
    await browser.js(`document.querySelector("l3-conversation a[href='#chat/8'] + button").focus()`);
    await browser.keys(ENTER);
    await browser.waitFor(`return document.activeElement.getAttribute("role") === "menuitem"`);
    await browser.keys(...Array.from({ length: 3 + index }, () => DOWN));
    assert.equal(await browser.js("return document.activeElement.textContent"), name);
    await browser.keys(ENTER);
    for (let tries = 0; tries < 400 && saved.length <= index; tries += 1) await browser.js("return 0");
  }
  assert.deepEqual(saved, ["md", "json"]);
  assert.equal(await browser.js("return location.hash"), "#chat", "the page stays where it was");
});

test("the_palette_calls_nothing_missing_that_it_could_not_ask_for", options, async () => {
  await open("#chat");
  let answer;
  const held = new Promise((resolve) => (answer = resolve));
  found = () => held;
  await browser.chord(CONTROL, "k");
  await browser.waitFor(`return document.activeElement?.dataset.testid === "palette"`);
  await browser.keys(..."zzzz");
  await browser.waitFor(`return document.querySelectorAll("#palette-list [role=option]").length === 0`);
  assert.equal(await browser.js(`return document.querySelector(".palette .none").hidden`), true, "the server may know something");
  answer(REFUSED);
  await browser.waitFor(`const node = document.querySelector(".palette .none"); return !node.hidden && node.textContent === "Nothing fits here. Messages could not be searched."`);
  found = () => ({ found: [] });
  await browser.keys("z");
  await browser.waitFor(`const node = document.querySelector(".palette .none"); return !node.hidden && node.textContent === "Nothing fits."`);
});

test("a_conversation_that_could_not_be_opened_is_told_of_until_one_is_opened", options, async () => {
  const notices = async (...texts) => {
    const script = `const all = [...document.querySelectorAll("l3-messages:not([hidden]) .note.notice")].map((node) => node.querySelector(".note-text").innerText); return all.length === arguments[0].length && arguments[0].every((text, at) => all[at].includes(text))`;
    await browser.waitFor(script, texts);
  };
  const isShown = () => browser.waitFor(`return [...document.querySelectorAll("l3-messages:not([hidden]) l3-assistant")].some((node) => node.innerText.includes("Here they are."))`);
  await open("#chat/31");
  await isShown();
  for (const wrong of ["#chat/abc", "#chat/abd"]) {
    await browser.js(`location.hash = arguments[0]`, wrong);
    await notices(wrong);
  }
  await browser.js(`location.hash = "#chat"`);
  await notices();
  await browser.js(`location.hash = "#chat/31"`);
  await isShown();
  await notices();
  const state = (is) => browser.waitFor(`return (document.querySelector("[data-testid=connection]")?.dataset.state === "connected") === arguments[0]`, is);
  server.world.down = true;
  server.drop();
  await state(false);
  await browser.js(`location.hash = "#chat/77"`);
  await notices("The server cannot be reached.");
  server.world.down = false;
  server.world.api["/api/conversations/77/frames"] = { ...server.world.api["/api/conversations/31/frames"], frames: server.world.api["/api/conversations/31/frames"].frames.map((frame) => ({ ...frame, conversation: 77 })) };
  await browser.js(`dispatchEvent(new Event("online"))`);
  await state(true);
  await isShown();
  await notices();
});

test("an_address_below_a_place_that_names_nothing_says_so", options, async () => {
  await open("#settings/nothing");
  await browser.waitFor(`return document.querySelector("[data-place=settings] [data-testid=empty]")?.innerText.includes("#settings/nothing")`);
  await browser.js(`location.hash = "#settings/look"`);
  await browser.waitFor(`return document.querySelector("[data-place=settings] [data-testid=empty]") === null`);
  // The second press on a link goes there like the first.
  const link = `const link = document.querySelector("[data-place=settings] .setting-nav a[href='#settings/look']");`;
  await browser.js(`${link} link.focus(); link.click()`);
  await browser.waitFor(`return document.activeElement?.closest("[data-testid=settings-look]") !== null`);
  await browser.js(`location.hash = "#tasks/nothing"`);
  await browser.waitFor(`return document.querySelector(".task-refusal")?.innerText.includes("There is no task nothing")`);
  await browser.js(`location.hash = "#tasks/week/nonsense"`);
  await browser.waitFor(`return document.querySelector(".task-refusal [data-testid=empty]")?.innerText.includes("#tasks/week/nonsense")`);
  assert.equal(await browser.js(`return document.querySelectorAll(".week-day").length`), 7, "this week is shown below it");
  await browser.js(`location.hash = "#tasks/week/2026-11-26"`);
  await browser.waitFor(`return document.querySelector(".task-refusal").childElementCount === 0`);
});

test("what_was_done_is_said_above_a_conversation_and_covers_no_field_on_a_phone", options, async () => {
  await browser.size(390, 844);
  await open("#chat");
  await browser.js(`const [host, line] = ["toasts", "toast"].map((name) => Object.assign(document.createElement("div"), { className: name }));
    line.textContent = "Done: Pay rent";
    host.append(line);
    document.querySelector("main").append(host)`);
  const at = await browser.js(`return ["l3-header", ".toast", "l3-composer"].map((css) => document.querySelector(css).getBoundingClientRect()).map(({ top, bottom }) => ({ top, bottom }))`);
  await browser.size(1280, 900);
  const [header, toast, composer] = at;
  assert.ok(header.bottom <= toast.top && toast.bottom <= composer.top, JSON.stringify(at));
});
