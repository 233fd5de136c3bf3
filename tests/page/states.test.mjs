// Chat in motion: what runs, is written, waits, was refused or could not be sent, what is looked
// for, and the dialogs about a conversation. axe-core finds nothing in any of it, in light and in
// dark.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe } from "./support/axe.mjs";
import { serveTalk } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { workedFrames } from "./support/worked.mjs";
import { fullWorld } from "./support/worlds.mjs";

const ASKED = { tool: "execute_sql", arguments: { query: "DELETE FROM books" }, what: ["Deletes all rows of `books`."], why: "It deletes rows.", can_always: true };

let browser;
let server;
before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.end());

const is = (script, ...all) => browser.waitFor(`return ${script}`, ...all);
const click = (css) => browser.js(`document.querySelector(arguments[0]).click()`, css);
const type = (css, text) => browser.js(`const field = document.querySelector(arguments[0]); field.value = arguments[1]; field.dispatchEvent(new Event("input", { bubbles: true }))`, css, text);
const composer = (text) => type("[data-testid=composer]", text);
const send = async (text) => (await composer(text), click("[data-testid=send]"));

async function clean(state) {
  // Things that enter have entered.
  await browser.later(`const done = arguments[0]; Promise.all(document.getAnimations().filter((each) => each.effect.getTiming().iterations === 1).map((each) => each.finished.catch(() => undefined))).then(() => requestAnimationFrame(() => done()))`);
  assert.deepEqual(await axe(browser), [], state);
}

async function turns() {
  server.record({ type: "turn", turn: 3, state: "queued", origin: "message", content: "Go on." });
  server.record({ type: "turn", turn: 3, state: "running" });
  await is(`document.querySelector("[data-kind=working]") !== null`);
  await clean("a turn that works");
  server.record({ type: "tool_call", name: "execute_sql", arguments: { query: "SELECT 1" }, call: 30, turn: 3 });
  await is(`document.querySelector("l3-steps[data-live=true]") !== null`);
  await composer("In German, please");
  await is(`document.querySelector("[data-testid=steer]").checkVisibility()`);
  await clean("a step that runs, and words for it");
  await composer("");
  server.record({ type: "tool_result", name: "execute_sql", result: "[]", said: "It gave 0 rows.", ok: true, call: 30, turn: 3, ms: 4 });
  server.delta(3, "## What I found\n\nIt is ", { step: 2 });
  await is(`document.querySelector("[data-streaming=true] h2") !== null`);
  await clean("an answer that is written");
  server.record({ type: "tool_call", name: "execute_sql", arguments: ASKED.arguments, call: 31, turn: 3 });
  server.record({ type: "approval", id: 5, state: "pending", call: 31, turn: 3, ...ASKED, expires_at: new Date(Date.now() + 3_600_000).toISOString() });
  await is(`document.querySelector("l3-approval[data-state=pending] form") !== null`);
  await clean("a question that waits");
  server.record({ type: "approval", id: 5, state: "denied", channel: "page", reason: "not today", decided_at: new Date().toISOString(), call: 31, turn: 3 });
  server.record({ type: "turn", turn: 3, state: "failed", reason: "The budget of the day is used up." });
  await is(`document.querySelector("l3-approval[data-state=denied]") !== null && document.querySelector("[data-kind=end]") !== null`);
  await clean("a turn that failed");
  await send("Too long.");
  for (let tries = 0; tries < 400 && server.messages().length === 0; tries += 1) await browser.js("return 0");
  const { id } = server.messages().at(-1);
  server.say({ type: "error", conversation: 1, id, content: "A message holds 1 MiB at most." });
  await is(`document.querySelector("[data-status=refused] [data-testid=error]") !== null`);
  await clean("a message that was refused");
}

async function list() {
  await browser.js(`dispatchEvent(new CustomEvent("search-conversations"))`);
  const search = "[data-testid=conversation-search]";
  await is(`document.querySelector(arguments[0]).checkVisibility()`, search);
  await type(search, "weather");
  await is(`document.querySelector("l3-found a") !== null`);
  await clean("what was found");
  await type(search, "zzz");
  await is(`document.querySelector("l3-found") === null && document.querySelector(".conversation-panel > .none").checkVisibility()`);
  await clean("nothing found");
  await type(search, "");
  for (const [which, css] of [["first", "dialog input"], ["last", "dialog [data-testid=confirm]"]]) {
    await is(`document.querySelector("l3-conversation a[href='#chat/8'] + button") !== null`);
    await click("l3-conversation a[href='#chat/8'] + button");
    await is(`document.querySelector(".menu [role=menuitem]") !== null`);
    await clean("the menu of a conversation");
    await click(`.menu [role=menuitem]:${which}-child`);
    await is(`document.querySelector(arguments[0])?.checkVisibility()`, css);
    await clean(`the ${which} dialog of the menu`);
    await browser.js(`document.querySelector("dialog").close()`);
    await is(`document.querySelector("dialog") === null`);
  }
}

async function line() {
  server.world.down = true;
  server.drop();
  await is(`document.querySelector("[data-testid=connection]").dataset.state !== "connected"`);
  await send("It waits here.");
  await composer("A draft");
  await is(`document.querySelector("[data-status=sending]") !== null`);
  await clean("a message that waits for the line");
}

for (const [theme, size] of [["light", [1440, 900]], ["dark", [1440, 900]], ["light", [390, 844]], ["dark", [390, 844]]]) {
  test(`axe_finds_nothing_in_chat_in_motion_${theme}_${size[0]}`, { skip, timeout: 240_000 }, async () => {
    const { api } = fullWorld(Date.now());
    const found = api["/api/search"];
    server = await serveTalk(workedFrames(), {
      answers: false,
      api: {
        ...api,
        "/api/approvals": { approvals: [] },
        "/api/search": ({ search }) => (search.get("q") === "zzz" ? { found: [] } : found),
        "DELETE /api/conversations/8": { said: "What was recorded stays on record." },
      },
    });
    try {
      await browser.size(...size);
      await browser.media({ "prefers-color-scheme": theme, "prefers-reduced-motion": "reduce" });
      await browser.go("about:blank");
      await browser.go(`${server.address}#chat`);
      await is(`document.querySelector("[data-testid=connection]")?.dataset.state === "connected" && document.querySelectorAll("l3-foot").length >= 2`);
      await turns();
      await list();
      await line();
    } finally {
      server.end();
    }
  });
}
