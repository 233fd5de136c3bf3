// An approval that is taller than a phone, in a real browser: all of it is there once and to the
// digit, and nothing lies over its buttons.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { load } from "./load.mjs";
import { serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const { readJson } = await load("core/json.js");
const options = { skip, timeout: 120_000 };
const LINES = Array.from({ length: 80 }, (_, line) => `  // Line ${line} of the source.`).join("\n");
const CODE = `async function weather(params) {\n${LINES}\n  return params.city\n}`;
const SOURCE = `${CODE}\nexport default weather;\n`;
const GRANTS = ["It may ask `a.example` over the network.", "It may read all tables.", "It may use the secret `KEY`."];

let browser;
let server;

before(async () => {
  if (skip) return;
  server = await serveTalk(turnFrames(1, "Hello", "Hello."));
  browser = await startBrowser();
  await browser.size(390, 844);
  await browser.go(`${server.address}#chat`);
  await browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=connected]") !== null && document.querySelector("l3-assistant") !== null`);
  const args = readJson(`{"name":"weather","code":${JSON.stringify(CODE)},"parameters_schema":{"properties":{"limit":{"type":"integer","maximum":9007199254740993}}},"grants":{"http":{"hosts":["a.example"]}}}`);
  const capability = { name: "weather", language: "javascript", source: SOURCE, replaces: null, diff: null, differences: [], grants: args.grants, grants_in_words: GRANTS };
  server.record({ type: "turn", turn: 2, state: "queued", origin: "message", content: "Make it." });
  server.record({ type: "turn", turn: 2, state: "running" });
  server.record({ type: "tool_call", name: "write_capability", arguments: args, call: 5, turn: 2 });
  server.record({ type: "approval", id: 7, state: "pending", call: 5, turn: 2, tool: "write_capability", arguments: args, what: ["Installs a new capability, `weather`."], why: "It has new powers.", can_always: false, capability, expires_at: new Date(Date.now() + 3_600_000).toISOString() });
  await browser.waitFor(`return document.querySelector("l3-approval[data-state=pending] h2")?.getBoundingClientRect().top < 200`);
});
after(async () => {
  await browser?.end();
  server?.end();
});

const NEWER = `const newer = document.querySelector("l3-messages:not([hidden]) .newer");`;
/** How much of Deny and Approve something else lies over, of the points that are in sight, wherever the card is scrolled to. */
const covered = () =>
  browser.later(`
  const [done] = arguments;
  const card = document.querySelector("l3-approval[data-state=pending]");
  const scroller = card.closest(".scroller");
  const found = { seen: 0, covered: 0 };
  const look = () => {
    const sight = scroller.getBoundingClientRect();
    for (const button of card.querySelectorAll(".deny, .approve")) {
      const box = button.getBoundingClientRect();
      for (let x = 1; x < 8; x += 1) {
        const [at, y] = [box.left + (box.width * x) / 8, (box.top + box.bottom) / 2];
        if (y <= sight.top || y >= sight.bottom) continue;
        found.seen += 1;
        if (!button.contains(document.elementFromPoint(at, y))) found.covered += 1;
      }
    }
  };
  let steps = 0;
  const next = () => {
    look();
    if ((steps += 1) > 30) return done(found);
    scroller.scrollTop += 60;
    requestAnimationFrame(next);
  };
  scroller.scrollTop += card.getBoundingClientRect().top - scroller.getBoundingClientRect().top - 12;
  requestAnimationFrame(next);`);

test("the_card_is_no_news_below_itself_and_nothing_lies_over_its_buttons", options, async () => {
  assert.ok(await browser.js(`${NEWER} return newer.hidden`), "nothing is below but the rest of the card");
  const { seen, covered: lost } = await covered();
  assert.ok(seen > 100, `${seen} points`);
  assert.equal(lost, 0);
});

test("the_source_stands_there_once_and_the_line_that_was_added_beside_it", options, async () => {
  const texts = await browser.js(`return [...document.querySelectorAll("l3-approval[data-state=pending] .exact code")].map((node) => node.textContent)`);
  assert.equal(texts.filter((text) => text.includes("Line 40 of the source.")).length, 1);
  assert.equal(texts[0], SOURCE);
  assert.ok(texts[1].includes("+export default weather;") && !texts[1].includes("Line 79"), texts[1]);
  assert.equal(await browser.js(`return document.querySelectorAll("l3-approval[data-state=pending] [data-folded]").length`), 1);
});

test("numbers_of_the_arguments_stand_there_to_the_digit", options, async () => {
  assert.ok((await browser.js(`return document.querySelector("l3-approval[data-state=pending]").textContent`)).includes('"maximum": 9007199254740993'));
});

test("what_comes_below_the_card_is_news_and_lies_over_no_button", options, async () => {
  // Up from the end, where the last look ended.
  await browser.js(`document.querySelector("l3-approval[data-state=pending]").scrollIntoView()`);
  await browser.later(`const [done] = arguments; requestAnimationFrame(() => requestAnimationFrame(done))`);
  for (let turn = 3; turn < 9; turn += 1) server.record({ type: "turn", turn, state: "queued", origin: "message", content: `Message ${turn}.` });
  await browser.waitFor(`${NEWER} return newer.checkVisibility()`);
  const { seen, covered: lost } = await covered();
  assert.ok(seen > 100, `${seen} points`);
  assert.equal(lost, 0);
});
