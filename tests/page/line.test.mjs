// The line breaks, the server goes, the page is loaded anew, and somebody else decides: in each
// case nothing is lost, nothing is there twice, and nothing is shown that is not so. In a real
// browser, against a server whose lines a test can break.

import assert from "node:assert/strict";
import { afterEach, after, before, beforeEach, test } from "node:test";
import { callFrames, serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const options = { skip, timeout: 120_000 };
const USED = { usage: { requests: 1, input_tokens: 9, output_tokens: 8, cost_micros: null }, ms: 900 };
const ASKED = { tool: "execute_sql", arguments: { query: "DELETE FROM books" }, what: ["Deletes all rows of `books`."], why: "It deletes rows.", can_always: false };

let browser;
let server;
before(async () => {
  if (skip) return;
  browser = await startBrowser();
  await browser.size(1280, 900);
});
after(() => browser?.end());
beforeEach(async () => {
  if (!skip) server = await serveTalk(turnFrames(1, "Before.", "An answer from before."));
});
afterEach(() => server?.end());

const open = async () => {
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  await line("connected");
};
const line = (state) => browser.waitFor(`return document.querySelector("[data-testid=connection]")?.dataset.state === arguments[0]`, state);
/** The text of the conversation, row by row, without the words for screen readers. */
const rows = async () => {
  // The code for answers comes with the first of them.
  await browser.waitFor(`return [...document.querySelectorAll("l3-assistant")].every((row) => row.querySelector(".markdown")?.textContent.trim())`);
  return browser.js(`return [...document.querySelectorAll("l3-messages:not([hidden]) .rows > *")].filter((row) => row.dataset.kind !== "foot" && row.dataset.kind !== "working").map((row) => [row.dataset.kind, (row.querySelector(".markdown, .bubble") ?? row).innerText.replace(/^(level3|You):\\s+/, "").trim()])`);
};
const says = (text) => browser.waitFor(`return document.querySelector("l3-messages:not([hidden])").innerText.includes(arguments[0])`, text);
const draft = () => browser.js(`return document.querySelector("[data-testid=composer]").value`);
const type = (text) => browser.js(`const field = document.querySelector("[data-testid=composer]"); field.value = arguments[0]; field.dispatchEvent(new Event("input", { bubbles: true }))`, text);
const send = async (text) => (await type(text), browser.js(`document.querySelector("[data-testid=send]").click()`));
/** The server is gone until `back`. */
async function gone() {
  server.world.down = true;
  server.drop();
  await browser.waitFor(`return document.querySelector("[data-testid=connection]")?.dataset.state !== "connected"`);
}
async function back() {
  server.world.down = false;
  await browser.js(`dispatchEvent(new Event("online"))`);
  await line("connected");
}
function begin(turn = 2, content = "Tell me.") {
  server.record({ type: "turn", turn, state: "queued", origin: "message", content });
  server.record({ type: "turn", turn, state: "running" });
}
function finish(turn, content) {
  server.record({ type: "assistant", content, turn, step: 1, final: true });
  server.record({ type: "turn", turn, state: "completed", ...USED });
}
const BEFORE = [["user", "Before."], ["assistant", "An answer from before."]];
const dropped = () => browser.js(`return document.querySelectorAll("[data-testid=error]").length`);

test("a_reload_in_mid_stream_shows_that_a_beginning_is_missing_and_then_the_whole_once", options, async () => {
  await open();
  begin();
  server.delta(2, "One two three ");
  await says("One two three");
  await open();
  server.delta(2, "four five ");
  await says("four five");
  assert.deepEqual(await rows(), [...BEFORE, ["user", "Tell me."], ["assistant", "… four five"]]);
  finish(2, "One two three four five six.");
  await says("five six.");
  assert.deepEqual(await rows(), [...BEFORE, ["user", "Tell me."], ["assistant", "One two three four five six."]]);
});

test("a_turn_that_begins_before_the_eyes_of_a_person_has_no_gap", options, async () => {
  await open();
  begin();
  server.delta(2, "One two");
  await says("One two");
  assert.deepEqual((await rows()).at(-1), ["assistant", "One two"]);
  // Another step begins after a call that was seen too.
  server.record({ type: "assistant", content: "One two", turn: 2, step: 1, final: false });
  for (const frame of callFrames(2, 5)) server.record(frame);
  server.delta(2, "Three", { step: 2 });
  await says("Three");
  assert.deepEqual((await rows()).at(-1), ["assistant", "Three"]);
});

test("a_server_that_goes_in_mid_stream_and_comes_back_leaves_a_gap_that_the_record_closes", options, async () => {
  await open();
  begin();
  server.delta(2, "One two ");
  await says("One two");
  await gone();
  assert.deepEqual((await rows()).at(-1), ["assistant", "One two"], "what was written stays in sight");
  await back();
  server.delta(2, "five six ");
  await says("five six");
  assert.deepEqual((await rows()).at(-1), ["assistant", "One two … five six"]);
  finish(2, "One two three four five six.");
  await says("three four");
  assert.deepEqual(await rows(), [...BEFORE, ["user", "Tell me."], ["assistant", "One two three four five six."]]);
  assert.equal(await dropped(), 0);
});

test("a_server_that_is_killed_and_begins_the_step_again_shows_the_new_attempt_alone", options, async () => {
  await open();
  begin();
  server.delta(2, "A first try that is ");
  await says("A first try");
  await gone();
  await back();
  server.delta(2, "A second try.", { attempt: 2 });
  await says("A second try.");
  // The line was down as it began: nobody says what came before.
  assert.deepEqual((await rows()).at(-1), ["assistant", "… A second try."]);
  finish(2, "A second try.");
  await browser.waitFor(`return document.querySelector("[data-streaming=true]") === null`);
  assert.deepEqual(await rows(), [...BEFORE, ["user", "Tell me."], ["assistant", "A second try."]]);
});

test("what_ended_while_the_line_was_down_is_there_once_when_it_is_up", options, async () => {
  await open();
  begin();
  server.delta(2, "One ");
  await says("One");
  await gone();
  for (const frame of callFrames(2, 7, { said: "It gave 7 rows." })) server.record(frame);
  finish(2, "It is seven.");
  await back();
  await says("It is seven.");
  assert.deepEqual((await rows()).map(([kind]) => kind), ["user", "assistant", "user", "steps", "assistant"]);
  assert.equal(await browser.js(`return document.querySelector("[data-testid=stop]").hidden`), true, "nothing runs any more");
});

test("a_draft_and_two_messages_that_could_not_be_sent_survive_the_line_and_a_reload", options, async () => {
  await open();
  await gone();
  await send("The first one.");
  await send("The second one.");
  await type("A draft that is not fin");
  await browser.waitFor(`return document.querySelectorAll("[data-kind=user][data-status=sending]").length === 2`);
  assert.deepEqual((await rows()).slice(2), [["user", "The first one."], ["user", "The second one."]]);
  // The page comes from the server that is up for files, and the line is still down.
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  await browser.waitFor(`return document.querySelectorAll("[data-kind=user][data-status=sending]").length === 2`);
  assert.equal(await draft(), "A draft that is not fin");
  assert.deepEqual(server.messages(), [], "nothing was sent into nowhere");
  await back();
  await browser.waitFor(`return document.querySelectorAll("[data-kind=user]").length === 3 && document.querySelector("[data-status=sending]") === null`);
  assert.deepEqual(await rows(), [...BEFORE, ["user", "The first one."], ["user", "The second one."]]);
  assert.deepEqual(server.messages().map(({ content }) => content), ["The first one.", "The second one."]);
  assert.equal(new Set(server.messages().map(({ id }) => id)).size, 2);
  assert.equal(await draft(), "A draft that is not fin");
  // Nothing of it comes again, and nothing stays behind.
  await open();
  await says("The second one.");
  assert.deepEqual(await rows(), [...BEFORE, ["user", "The first one."], ["user", "The second one."]]);
  assert.equal(server.messages().length, 2);
  assert.equal(await dropped(), 0);
});

test("a_message_whose_acknowledgement_was_lost_is_there_once", options, async () => {
  await open();
  const { heard } = server.world;
  // The server takes it, and the line breaks before it can say so.
  server.world.heard = (frame, say) => {
    if (frame.type !== "message") return;
    server.world.down = true;
    server.drop();
    heard(frame, () => undefined);
    server.world.heard = heard;
    void say;
  };
  await send("Only once.");
  await browser.waitFor(`return document.querySelector("[data-testid=connection]")?.dataset.state !== "connected"`);
  assert.equal(server.world.frames.at(-1).content, "Only once.");
  await back();
  await says("Only once.");
  await browser.waitFor(`return document.querySelector("[data-status=sending]") === null`);
  assert.deepEqual(await rows(), [...BEFORE, ["user", "Only once."]]);
  const ids = server.messages().map(({ id }) => id);
  assert.equal(new Set(ids).size, 1, "said again, if at all, under its own id");
  assert.equal(server.world.frames.filter(({ content }) => content === "Only once.").length, 1);
});

test("an_approval_that_was_decided_elsewhere_while_the_line_was_down_asks_no_more", options, async () => {
  await open();
  begin();
  server.record({ type: "tool_call", name: "execute_sql", arguments: ASKED.arguments, call: 9, turn: 2 });
  server.record({ type: "approval", id: 5, state: "pending", call: 9, turn: 2, ...ASKED, expires_at: new Date(Date.now() + 3_600_000).toISOString() });
  await browser.waitFor(`return document.querySelector("l3-approval[data-state=pending]") !== null`);
  await gone();
  assert.equal(await browser.js(`return document.querySelector("[data-testid=approval-deny]").getAttribute("aria-disabled")`), "true", "nothing can be decided into nowhere");
  server.record({ type: "approval", id: 5, state: "denied", channel: "telegram", reason: "not now", decided_at: new Date().toISOString(), call: 9, turn: 2 });
  await back();
  await browser.waitFor(`return document.querySelector("l3-approval[data-state=denied]") !== null`);
  assert.equal(await browser.js(`return document.querySelectorAll("[data-testid=approval-approve], [data-testid=approval-deny]").length`), 0);
  assert.equal(await browser.js(`return document.querySelectorAll("l3-approval").length`), 1);
  assert.doesNotMatch(await browser.js(`return document.title`), /approval/i, "nothing waits any more");
});

test("two_tabs_show_the_same_once_and_keep_their_own_drafts", options, async () => {
  await open();
  const first = await browser.shown();
  await type("A draft of the first tab");
  const second = await browser.tab();
  try {
    await browser.size(1280, 900);
    await open();
    assert.equal(await draft(), "");
    await send("From the second tab.");
    await says("From the second tab.");
    const turn = server.world.frames.at(-1).turn;
    server.record({ type: "turn", turn, state: "running" });
    server.delta(turn, "Both see this");
    await says("Both see this");
    await browser.show(first);
    await says("Both see this");
    assert.equal(await draft(), "A draft of the first tab");
    server.record({ type: "tool_call", name: "execute_sql", arguments: ASKED.arguments, call: 9, turn });
    server.record({ type: "approval", id: 6, state: "pending", call: 9, turn, ...ASKED, expires_at: new Date(Date.now() + 3_600_000).toISOString() });
    await browser.waitFor(`return document.querySelector("l3-approval[data-state=pending]") !== null`);
    await browser.js(`document.querySelector("[data-testid=approval-deny]").click()`);
    await browser.waitFor(`return document.querySelector("l3-approval").dataset.armed === "false"`);
    const decision = server.heard.filter(({ type }) => type === "deny" || type === "approve");
    assert.deepEqual(decision, [{ type: "deny", approval: 6 }]);
    server.record({ type: "approval", id: 6, state: "denied", channel: "page", decided_at: new Date().toISOString(), call: 9, turn });
    server.record({ type: "assistant", content: "Both see this, and the end.", turn, step: 2, final: true });
    server.record({ type: "turn", turn, state: "completed", ...USED });
    const there = [];
    for (const tab of [first, second]) {
      await browser.show(tab);
      await says("and the end.");
      await browser.waitFor(`return document.querySelector("l3-approval[data-state=denied]") !== null`);
      // Until the end of the turn has come, what was written before its last step stands there too.
      await browser.waitFor(`return document.querySelectorAll("l3-messages:not([hidden]) l3-foot").length === 2`);
      there.push(await rows());
    }
    assert.deepEqual(there[0], there[1]);
    assert.equal(there[0].filter(([, text]) => text === "From the second tab.").length, 1);
    assert.equal(server.messages().length, 1);
  } finally {
    await browser.show(second);
    await browser.close();
    await browser.show(first);
  }
});
