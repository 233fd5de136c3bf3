// Ways to a place in a long conversation: an address that names a turn, a finding of the search,
// and words that are looked for in it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { longFrames } from "./support/long.mjs";
import { serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const options = { skip, timeout: 120_000 };
const TURNS = 300;
let browser;
let server;

before(async () => {
  if (skip) return;
  const found = [{ conversation: 1, title: "Long", turn: 40, role: "assistant", at: new Date().toISOString(), snippet: [{ text: "Answer", hit: true }] }];
  server = await serveTalk(longFrames(TURNS), { api: { "/api/search": { found } } });
  browser = await startBrowser();
  await browser.size(1280, 900);
});
after(async () => {
  await browser?.end();
  server?.end();
});

async function open(hash, address = server.address) {
  await browser.go("about:blank");
  await browser.go(`${address}${hash}`);
}

/** The row that is marked, once it is in sight and begins with these words. */
const marked = (text) =>
  browser.waitFor(
    `const row = document.querySelector(".rows > [data-found]");
     if (!row?.textContent.includes(arguments[0]) || document.querySelectorAll("[data-found]").length !== 1) return false;
     const box = document.querySelector("l3-messages:not([hidden]) .scroller").getBoundingClientRect();
     const { top, bottom } = row.getBoundingClientRect();
     return bottom > box.top && top < box.bottom`,
    text,
  );
const holdsFocus = () => browser.js(`return document.querySelector("[data-found]").contains(document.activeElement)`);
const isThere = () => browser.waitFor(`return document.querySelector("l3-foot button") !== null`);
/** Presses Ctrl F where the focus is; true if the browser is left to find. */
const press = () => browser.js(`const event = new KeyboardEvent("keydown", { key: "f", ctrlKey: true, bubbles: true, cancelable: true }); document.activeElement.dispatchEvent(event); return !event.defaultPrevented`);
const told = (text) => browser.waitFor(`return document.querySelector(".find-told")?.textContent === arguments[0]`, text);
async function write(text) {
  await browser.js(`const field = document.querySelector("[data-testid=find]"); field.value = arguments[0]; field.dispatchEvent(new Event("input", { bubbles: true }))`, text);
}

test("an_address_leads_to_a_turn_far_back_and_marks_it", options, async () => {
  await open("#chat/1/12");
  await marked("Message 12.");
  assert.ok(await holdsFocus());
  await browser.js(`location.hash = "#chat/1/250/answer"`);
  await marked("Answer 250.");
  assert.ok(await holdsFocus());
});

test("what_a_search_found_leads_to_the_answer_itself", options, async () => {
  await open("#chat");
  await isThere();
  await browser.js(`const field = document.querySelector("[data-testid=conversation-search]"); field.value = "answer"; field.dispatchEvent(new Event("input"))`);
  await browser.waitFor(`const link = document.querySelector("l3-found a"); link?.click(); return link !== null`);
  await marked("Answer 40.");
});

test("a_turn_that_is_not_there_is_said_and_the_conversation_is_shown", options, async () => {
  await open("#chat/1/9999");
  await browser.waitFor(`return document.querySelector("l3-note.notice")?.textContent.includes("This place is not in the conversation.")`);
  assert.equal(await browser.js(`return document.querySelector("[data-found]")`), null);
  assert.ok(await browser.js(`return document.querySelector("l3-messages:not([hidden])").view.rows.some(({ content }) => content?.startsWith("Message 300."))`));
});

test("the_keys_of_the_browser_find_in_all_of_a_conversation_of_which_a_part_is_in_the_page", options, async () => {
  await open("#chat");
  await isThere();
  assert.equal(await press(), false);
  await browser.waitFor(`return document.activeElement.dataset.testid === "find"`);
  await write("message 7.");
  await told("1 of 1");
  await marked("Message 7.");
  assert.equal(await browser.js(`return [...CSS.highlights.get("found")].map(String).join()`), "Message 7.");
  await write("ANSWER 9");
  await told("11 of 11");
  await marked("Answer 99.");
  await browser.keys("\uE007");
  await told("10 of 11");
  await marked("Answer 98.");
  await write("of this nobody spoke");
  await told("Nothing found");
  assert.equal(await press(), true, "pressed once more, it is the browser that looks");
  await browser.keys("\uE00C");
  assert.equal(await browser.js(`return document.querySelector(".find")`), null);
  assert.ok(await holdsFocus(), "from the row that was found a person goes on");
});

test("what_a_browser_finds_by_itself_is_left_to_it", options, async (t) => {
  const short = await serveTalk(turnFrames(1, "Hello?", "Hello."));
  t.after(() => short.end());
  await open("#chat", short.address);
  await isThere();
  assert.equal(await press(), true);
  assert.equal(await browser.js(`return document.querySelector(".find")`), null);
});
