// The reducer and the rows with the frames of the law: approvals, decisions by words, operations,
// what a second model said.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { initialState, isBusy, reduce } = await load("core/state.js");
const { waiting } = await load("core/state-law.js");
const { capabilityList } = await load("core/entries.js");
const { rows } = await load("chat/view.js");

const HELLO = {
  type: "hello",
  version: "0",
  conversation: 1,
  last_seq: 0,
  model: { kind: "tour", provider: "p", name: "n" },
  safe_mode: false,
};
const after = (actions, state = initialState()) => actions.reduce(reduce, state);
const numbered = (frames) => frames.map((frame, index) => ({ conversation: 1, seq: index + 1, ...frame }));
const approvalRow = (state) => rows(state).find((row) => row.kind === "approval");
const toolRow = (state, call) => rows(state).find((row) => row.key === `call:${call}`);
const shape = (state) =>
  rows(state).map((row) => `${row.kind}:${row.content ?? row.name ?? row.id}:${row.state ?? ""}`);

const QUEUED = { type: "turn", turn: 3, state: "queued", origin: "message", content: "weather?", id: "m-1" };
const RUNNING = { type: "turn", turn: 3, state: "running" };
const CALL = { type: "tool_call", turn: 3, call: 9, name: "write_capability", arguments: { name: "weather" } };
const OTHER_CALL = { type: "tool_call", turn: 3, call: 10, name: "execute_sql", arguments: { query: "SELECT 1" } };
const PENDING = {
  type: "approval",
  id: 5,
  state: "pending",
  call: 9,
  turn: 3,
  tool: "write_capability",
  arguments: { name: "weather" },
  what: ["Installs the capability `weather`, version 1."],
  why: "It asks for powers that nobody has approved yet.",
  can_always: true,
  expires_at: "2030-01-01T00:00:00Z",
};
const DECIDED = { type: "approval", id: 5, state: "approved", call: 9, turn: 3, channel: "page", reason: null };
const RESUMED = { type: "turn", turn: 3, state: "queued" };
const RESULT = { type: "tool_result", turn: 3, call: 9, name: "write_capability", ok: true, result: "{}" };
const ANSWER = { type: "assistant", turn: 3, step: 2, content: "sunny", final: true };
const DONE = { type: "turn", turn: 3, state: "completed" };
const WAITING = [QUEUED, RUNNING, CALL, OTHER_CALL, PENDING];

test("a_waiting_approval_stands_below_its_own_call_and_the_call_says_so", () => {
  const state = after([HELLO, ...numbered(WAITING)]);
  assert.deepEqual(shape(state), [
    "user:weather?:",
    "tool:write_capability:waiting",
    "approval:5:pending",
    "tool:execute_sql:running",
  ]);
  const row = approvalRow(state);
  assert.deepEqual(row.shown.what, PENDING.what);
  assert.equal(row.shown.canAlways, true);
  assert.equal(row.expiresAt, PENDING.expires_at);
  assert.equal(isBusy(state), true);
  assert.deepEqual(
    waiting(state).map((item) => item.id),
    [5],
  );
});

test("a_decision_ends_the_waiting_and_says_how_it_came", () => {
  for (const [outcome, channel, reason] of [
    ["approved", "page", null],
    ["denied", "api", "too wide"],
    ["expired", "clock", null],
    ["void", "clock", null],
  ]) {
    const state = after([HELLO, ...numbered([...WAITING, { ...DECIDED, state: outcome, channel, reason }])]);
    const row = approvalRow(state);
    assert.deepEqual([row.state, row.channel, row.reason], [outcome, channel, reason]);
    assert.deepEqual(row.shown.what, PENDING.what, "what was shown can still be read");
    assert.deepEqual(waiting(state), []);
    assert.equal(toolRow(state, 9).state, "running");
  }
});

test("after_a_reload_a_decided_approval_is_decided_and_a_waiting_one_waits", () => {
  const frames = numbered([...WAITING, DECIDED, RESUMED, RUNNING, RESULT, ANSWER, DONE]);
  const live = after([HELLO, ...frames]);
  assert.deepEqual(rows(after(frames, live)), rows(live), "frames that come twice change nothing");
  assert.equal(isBusy(live), false);
  for (let cut = 1; cut < frames.length; cut++) {
    const late = after([HELLO, ...frames.slice(cut), ...frames]);
    assert.deepEqual(rows(late), rows(live), `cut at ${cut}`);
    assert.deepEqual(waiting(late), [], `cut at ${cut}`);
  }
  assert.equal(waiting(after([HELLO, ...numbered(WAITING)])).length, 1);
});

test("a_decision_whose_question_is_further_back_than_what_was_loaded_stands_alone", () => {
  const state = after([HELLO, { ...DECIDED, conversation: 1, seq: 6 }]);
  assert.deepEqual([approvalRow(state).state, approvalRow(state).shown], ["approved", undefined]);
  assert.deepEqual(waiting(state), []);
});

test("an_approval_of_a_turn_that_ended_counts_for_nothing", () => {
  const state = after([
    HELLO,
    ...numbered([...WAITING, { type: "turn", turn: 3, state: "aborted", reason: "stopped" }]),
  ]);
  assert.equal(approvalRow(state).state, "void");
  assert.deepEqual(waiting(state), []);
  assert.equal(isBusy(state), false);
});

test("a_message_that_decided_is_shown_and_settled_and_is_no_new_turn", () => {
  const outbox = [{ id: "yes-1", content: "CONFIRMAR", status: "sending" }];
  const said = { ...RESUMED, id: "yes-1", content: "CONFIRMAR" };
  const before = after([HELLO, ...numbered(WAITING), { type: "@outbox", entries: outbox }]);
  assert.equal(rows(before).at(-1).key, "said:yes-1");
  const frames = numbered([...WAITING, { ...DECIDED, channel: "words" }, said]);
  const decided = after(frames, before);
  assert.deepEqual(decided.outbox, []);
  assert.equal(decided.turns.size, 1);
  assert.deepEqual(
    rows(decided)
      .filter((row) => row.kind === "user")
      .map((row) => [row.key, row.content, row.status]),
    [
      ["said:m-1", "weather?", undefined],
      ["said:yes-1", "CONFIRMAR", undefined],
    ],
  );
  const whole = after([HELLO, ...frames]);
  assert.deepEqual(rows(after(frames, whole)), rows(whole));
});

test("a_turn_that_goes_on_after_a_button_shows_no_message", () => {
  const state = after([HELLO, ...numbered([...WAITING, DECIDED, RESUMED])]);
  assert.equal(rows(state).filter((row) => row.kind === "user").length, 1);
  assert.equal(state.turns.get(3).state, "queued");
});

test("a_pressed_button_waits_for_the_server_and_comes_back_when_the_decision_was_refused_or_lost", () => {
  const pressed = after([HELLO, ...numbered(WAITING), { type: "@deciding", approval: 5, decision: "approve" }]);
  assert.equal(approvalRow(pressed).sending, "approve");
  const late = reduce(pressed, { type: "error", content: "This approval was decided already." });
  assert.equal(approvalRow(late).sending, undefined);
  assert.equal(rows(late).at(-1).content, "This approval was decided already.");
  const connection = (status) => ({ type: "@connection", status, failures: 0, retryAt: null });
  const lost = after([connection("connected"), connection("reconnecting")], pressed);
  assert.deepEqual([approvalRow(lost).sending, approvalRow(lost).connected], [undefined, false]);
  const decided = reduce(pressed, { ...DECIDED, conversation: 1, seq: 6 });
  assert.equal(approvalRow(decided).sending, undefined);
  assert.equal(reduce(decided, { type: "@deciding", approval: 5, decision: "deny" }), decided, "it is decided once");
  assert.equal(reduce(pressed, { type: "@deciding", approval: 99, decision: "deny" }), pressed);
});

test("a_message_sent_meanwhile_waits_its_turn", () => {
  const second = { type: "turn", turn: 4, state: "queued", origin: "message", content: "and Porto?", id: "m-2" };
  const state = after([HELLO, ...numbered([...WAITING, second])]);
  assert.equal(rows(state).at(-1).status, "queued");
});

test("operations_stand_in_their_call_in_order_and_a_later_state_wins", () => {
  const operation = (ordinal, state, power = "http") => ({
    type: "operation",
    call: 9,
    turn: 3,
    ordinal,
    power,
    request: { method: "GET", url: "https://api.example.com/" },
    state,
  });
  const frames = numbered([
    ...WAITING,
    operation(2, "intended"),
    operation(1, "intended"),
    operation(1, "done"),
    operation(2, "unknown"),
  ]);
  const states = (state) => toolRow(state, 9).operations.map((each) => [each.ordinal, each.state]);
  const live = after([HELLO, ...frames]);
  assert.deepEqual(states(live), [
    [1, "done"],
    [2, "unknown"],
  ]);
  assert.deepEqual(states(after(frames.toReversed(), after([HELLO]))), states(live));
  assert.equal(toolRow(live, 10).operations, undefined);
  assert.equal(rows(live).find((row) => row.key === "call:9").operations, toolRow(after(frames, live), 9).operations);
});

test("what_a_second_model_said_stands_in_the_call", () => {
  const said = {
    type: "classified",
    call: 9,
    turn: 3,
    complexity: "high",
    risk: "low",
    impact: "local",
    requires_confirmation: true,
  };
  const state = after([HELLO, ...numbered([...WAITING, said, { ...said, risk: "high" }])]);
  assert.deepEqual(toolRow(state, 9).classified, { complexity: "high", risk: "low", impact: "local", confirm: true });
  assert.equal(toolRow(state, 10).classified, undefined);
});

test("a_capability_can_be_disabled_and_rolled_back_and_the_list_follows", () => {
  const capability = (version, enabled) => ({ type: "capability", name: "weather", version, enabled });
  const frames = numbered([capability(1), capability(2, true), capability(2, false), capability(1, true)]);
  const heard = after([HELLO, ...frames]);
  assert.deepEqual(capabilityList(heard), [{ name: "weather", version: 1, enabled: true }]);
  assert.deepEqual(shape(heard).length, 4);
  assert.deepEqual(capabilityList(after(frames, heard)), capabilityList(heard));
  const entries = [{ name: "weather", version: 2, enabled: true, description: "d", grants_in_words: [] }];
  const listed = reduce(after([HELLO, ...frames.slice(0, 2)]), { type: "@list", kind: "capabilities", entries });
  const disabled = reduce(listed, frames[2]);
  assert.deepEqual(capabilityList(disabled), [{ ...entries[0], enabled: false }]);
  assert.deepEqual(capabilityList(reduce(listed, frames[0])), entries, "an old frame does not change a newer list");
});

test("a_list_that_cannot_be_read_keeps_what_was_known_and_says_why", () => {
  const entries = [{ name: "API_KEY" }];
  const state = after([
    HELLO,
    { type: "@list", kind: "secrets", entries },
    { type: "@list", kind: "secrets", error: "no" },
  ]);
  assert.deepEqual(state.lists.secrets, { entries, error: "no" });
  assert.deepEqual(reduce(state, { type: "@list", kind: "secrets", entries: [] }).lists.secrets.error, undefined);
});
