// The live region: it says what happened, once, and neither history nor each piece of an answer.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";
import { numbered, turnFrames } from "./support/talk.mjs";

const { announcer } = await load("shell/announcer.js");
const { initialWorkspace, mainState, reduceWorkspace } = await load("core/workspace.js");

const line = (status) => ({ type: "@connection", status, failures: 0, retryAt: null });

/** A page that has its history; `next(action)` gives all that was said because of it. */
async function page() {
  const frames = numbered(turnFrames(1, "Before.", "An answer from before."));
  const hello = { type: "hello", conversation: 1, conversations: {}, last_seq: frames.length, model: {}, version: "1" };
  const said = [];
  let heard;
  const tell = announcer({ set textContent(text) { heard?.(said.push(text)); } });
  let workspace = initialWorkspace();
  const next = async (action) => {
    workspace = reduceWorkspace(workspace, action);
    const first = new Promise((resolve) => (heard = resolve));
    tell(mainState(workspace));
    // A question is put into words by code that comes with the first one; all else is said at once.
    if (action.state === "pending") await first;
    else await new Promise(setImmediate);
    return said.splice(0);
  };
  let seq = frames.length;
  const record = (fields) => next({ conversation: 1, turn: 2, seq: (seq += 1), ...fields });
  for (const action of [hello, line("connected"), { type: "@frames", conversation: 1, frames }]) assert.deepEqual(await next(action), []);
  assert.deepEqual(await next({ type: "@history", conversation: 1, after: 0 }), [], "history is not read out");
  return { next, record };
}

test("an_answer_is_said_once_when_it_is_whole_and_no_piece_of_it_before", async () => {
  const { next, record } = await page();
  assert.deepEqual(await record({ type: "turn", state: "queued", origin: "message", content: "Tell me." }), []);
  assert.deepEqual(await record({ type: "turn", state: "running" }), []);
  for (const content of ["It ", "rains."]) assert.deepEqual(await next({ type: "delta", conversation: 1, turn: 2, step: 1, attempt: 1, content }), []);
  assert.deepEqual(await record({ type: "assistant", content: "It rains.", step: 1, final: true }), ["It rains."]);
  assert.deepEqual(await record({ type: "turn", state: "completed" }), []);
});

test("questions_failures_capabilities_and_the_line_are_said", async () => {
  const { next, record } = await page();
  await record({ type: "turn", state: "running", origin: "message", content: "Go on." });
  const asked = { tool: "x", arguments: {}, what: ["Deletes all rows of `books`.\u202e"] };
  const [question] = await record({ type: "approval", id: 5, state: "pending", call: 5, ...asked });
  assert.match(question, /^Your approval is needed\. Deletes all rows of `books`\..*U\+202E/, "characters that would turn the words are written out");
  assert.deepEqual(await record({ type: "approval", id: 5, state: "approved", call: 5, channel: "page" }), []);
  assert.deepEqual(await record({ type: "capability", name: "roman", version: 2, enabled: true }), ["Capability roman version 2 is live"]);
  assert.deepEqual(await next(line("reconnecting")), ["Connection: Reconnecting"]);
  assert.deepEqual(await next(line("connected")), ["Connected again"]);
  assert.deepEqual(await record({ type: "error", content: "The model does not answer." }), ["Error: The model does not answer."]);
});

test("a_turn_that_ends_before_its_answer_is_said_to_have_ended", async () => {
  const { record } = await page();
  const ended = async (turn, fields) => {
    await record({ type: "turn", turn, state: "queued", origin: "message", content: "Go on." });
    await record({ type: "turn", turn, state: "running" });
    return record({ type: "turn", turn, ...fields });
  };
  assert.deepEqual(await ended(2, { state: "aborted" }), ["Stopped."]);
  assert.deepEqual(await ended(3, { state: "failed" }), ["The turn ended."]);
  assert.deepEqual(await ended(4, { state: "completed", reason: "A limit\nended it." }), ["A limit ended it."]);
  assert.deepEqual(await ended(5, { state: "completed" }), [], "the answer says it");
});
