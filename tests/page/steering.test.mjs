// Words said into a running turn, and what a stop leaves: how the page shows them, whatever the
// order its frames come in.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { initialState, reduce } = await load("core/state.js");
const { rows } = await load("chat/view.js");
const { composerData } = await load("chat/composer-data.js");

const HELLO = {
  type: "hello",
  version: "0",
  conversation: 1,
  last_seq: 0,
  model: { kind: "configured", provider: "p", name: "n" },
  safe_mode: false,
};
const after = (actions, state = initialState()) => actions.reduce(reduce, state);
const frame = (seq, fields) => ({ conversation: 1, seq, ...fields });

const QUEUED = frame(1, { type: "turn", turn: 1, state: "queued", origin: "message", content: "go", id: "m1" });
const STARTED = frame(2, { type: "turn", turn: 1, state: "running" });
const STEERED = frame(3, { type: "turn", turn: 1, state: "running", content: "in German", id: "s1", message: 7 });
const FIRST = frame(4, { type: "assistant", turn: 1, step: 1, content: "First.", final: false });
const SHOWN = frame(5, { type: "shown", turn: 1, step: 2, messages: [7] });
const SECOND = frame(6, { type: "assistant", turn: 1, step: 2, content: "Zweitens.", final: true });
const COMPLETED = frame(7, { type: "turn", turn: 1, state: "completed" });

const told = (state) => rows(state).map(({ kind, content, status }) => [kind, content ?? "", status ?? ""].join("|"));

test("what_is_said_into_a_turn_waits_behind_everything_until_a_step_sees_it", () => {
  const state = after([HELLO, QUEUED, STARTED, STEERED]);
  assert.deepEqual(told(state), ["user|go|", "user|in German|steering", "working||"]);
  const streaming = after([{ type: "delta", conversation: 1, turn: 1, step: 1, attempt: 1, content: "Fir" }], state);
  assert.deepEqual(told(streaming), ["user|go|", "assistant|Fir|", "user|in German|steering"]);
});

test("then_it_stands_behind_the_step_it_came_during_whatever_the_order_of_the_frames", () => {
  const all = [QUEUED, STARTED, STEERED, FIRST, SHOWN, SECOND, COMPLETED];
  const wanted = ["user|go|", "assistant|First.|", "user|in German|", "assistant|Zweitens.|"];
  assert.deepEqual(told(after([HELLO, ...all])), wanted);
  assert.deepEqual(told(after([HELLO, ...all, ...all])), wanted);
  assert.deepEqual(told(after([HELLO, ...all.toReversed()])), wanted);
  // Only the end was loaded, and the rest later.
  const late = after([HELLO, SHOWN, SECOND, COMPLETED]);
  assert.deepEqual(told(late), ["assistant|Zweitens.|"]);
  assert.deepEqual(told(after([QUEUED, STARTED, STEERED, FIRST], late)), wanted);
});

test("the_acknowledgement_of_a_steering_message_takes_it_out_of_the_outbox", () => {
  const entries = [{ id: "s1", content: "in German", steer: true, status: "sending" }];
  const before = after([HELLO, QUEUED, STARTED, { type: "@outbox", entries }]);
  const key = rows(before).find((row) => row.content === "in German").key;
  const acknowledged = after([STEERED], before);
  assert.equal(acknowledged.outbox.length, 0);
  assert.equal(rows(acknowledged).find((row) => row.content === "in German").key, key);
});

test("one_that_its_turn_never_saw_is_shown_once_as_a_turn_of_its_own", () => {
  const moved = frame(4, {
    type: "turn",
    turn: 2,
    state: "queued",
    origin: "message",
    content: "in German",
    id: "s1",
    moved: 7,
  });
  const failed = frame(5, { type: "error", turn: 1, content: "down", failure: "model" });
  const wanted = ["user|go|", "error|down|", "user|in German|", "working||"];
  assert.deepEqual(told(after([HELLO, QUEUED, STARTED, STEERED, moved, failed])), wanted);
  assert.deepEqual(told(after([HELLO, moved, failed, QUEUED, STARTED, STEERED])), wanted);
});

test("a_stop_shows_what_was_said_as_said_and_what_was_not_seen_as_not_seen", () => {
  const stopped = frame(4, { type: "assistant", turn: 1, step: 1, content: "I was", final: false, stopped: true });
  const aborted = frame(5, { type: "turn", turn: 1, state: "aborted", reason: "Stopped." });
  const delta = { type: "delta", conversation: 1, turn: 1, step: 1, attempt: 1, content: "I was just" };
  const state = after([HELLO, QUEUED, STARTED, delta, STEERED, stopped, aborted]);
  assert.deepEqual(told(state), ["user|go|", "assistant|I was|", "user|in German|unseen", "end|Stopped.|"]);
  const row = rows(state).find((other) => other.kind === "assistant");
  assert.deepEqual([row.stopped, row.partial, row.streaming], [true, false, false]);
});

test("a_turn_can_be_steered_while_it_runs_and_nothing_waits_unless_orders_queue_there", () => {
  const steers = (state) => composerData(state, false, state).steers;
  const running = after([HELLO, QUEUED, STARTED]);
  assert.deepEqual([steers(after([HELLO])), steers(running), steers(after([COMPLETED], running))], [false, true, false]);
  const asked = frame(8, { type: "approval", turn: 1, call: 3, id: 5, state: "pending", tool: "execute_sql", what: [], why: "", words: {} });
  assert.equal(steers(after([asked], running)), false, "what is said while a question waits queues, or declines it");
  const operators = { ...HELLO, conversations: { operator: 1 }, queueing: [1] };
  assert.equal(steers(after([operators, QUEUED, STARTED])), false);
});
