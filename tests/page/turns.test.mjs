// The rows of the message list as a person reads them: steps in one row, a foot under each turn,
// outcomes told apart.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { initialState, reduce } = await load("core/state.js");
const { createRetried } = await load("chat/retried.js");
const { outcomeOf, turnRows } = await load("chat/turns.js");
const { doing, kindWord, saidOf, stepsLine } = await load("chat/step-words.js");

const { duration } = await load("core/times.js");

const HELLO = { type: "hello", version: "0", conversation: 1, last_seq: 0, model: { kind: "local", provider: "p", name: "n" } };
const after = (frames, state = initialState()) => [HELLO, ...frames].reduce(reduce, state);
const kinds = (list) => list.map(({ kind }) => kind);

/** Frames of one turn, numbered as the server does. */
function turn(id, from = 0) {
  let seq = from;
  let step = 0;
  const frame = (fields) => ({ conversation: 1, seq: ++seq, at: `2026-11-22T10:00:${String(seq).padStart(2, "0")}Z`, turn: id, ...fields });
  return {
    queued: (content = "do it", more = {}) => frame({ type: "turn", state: "queued", origin: "message", content, id: `m${id}`, ...more }),
    running: () => frame({ type: "turn", state: "running" }),
    call: (call, name = "execute_sql", args = { query: `SELECT ${call}` }) => frame({ type: "tool_call", call, name, arguments: args }),
    result: (call, more = {}, name = "execute_sql") => frame({ type: "tool_result", call, name, ok: true, result: "[]", said: "It gave 0 rows.", ms: 10, ...more }),
    says: (content, more = {}) => frame({ type: "assistant", content, step: ++step, final: false, ...more }),
    operation: (call, state) => frame({ type: "operation", call, ordinal: 1, power: "http", request: { method: "POST", url: "https://a.example/" }, state }),
    ends: (state = "completed", more = {}) => frame({ type: "turn", state, usage: { requests: 2, input_tokens: 900, output_tokens: 100, cost_micros: null }, ms: 1234, ...more }),
    fails: (more = {}) => frame({ type: "error", content: "no model", failure: "model", ms: 9, ...more }),
    approval: (call, state) => frame({ type: "approval", id: 5, call, state, tool: "execute_sql", what: ["x"], channel: "page" }),
    capability: (name) => frame({ type: "capability", name, version: 1, turn: undefined }),
    fired: (content) => frame({ type: "fired", tasks: [3], content }),
    steered: (content) => frame({ type: "turn", state: "running", message: 7, content, id: "s" }),
    shown: () => frame({ type: "shown", step: 2, messages: [7] }),
    goesOn: (content) => frame({ type: "turn", state: "queued", content, id: "d" }),
  };
}

test("forty_steps_of_a_turn_are_one_row_and_the_turn_has_a_foot", () => {
  const t = turn(1);
  const frames = [t.queued(), t.running()];
  for (let call = 1; call <= 40; call++) frames.push(t.call(call), t.result(call));
  frames.push(t.says("done", { final: true }), t.ends());
  const list = turnRows(after(frames));
  assert.deepEqual(kinds(list), ["user", "steps", "assistant", "foot"]);
  assert.equal(list[1].steps.length, 40);
  assert.equal(list[1].live, false);
  const { ms, input, output, cost, answer, said, retryAt, branchAt, at } = list[3];
  assert.deepEqual([ms, input, output, cost, answer, said], [1234, 900, 100, null, "done", "do it"]);
  assert.equal(retryAt, 1, "where the turn began: it is not among those that had ended");
  assert.equal(branchAt, frames.length, "the place at which it ended");
  assert.equal(at, frames.at(-1).at);
});

test("text_beside_calls_is_a_step_and_an_answer_never_is", () => {
  const t = turn(1);
  const list = turnRows(after([t.queued(), t.says("I look."), t.call(1), t.result(1), t.says("Wrong.", { unproven: true }), t.call(2), t.result(2), t.says("There.", { final: true }), t.ends()]));
  assert.deepEqual(kinds(list), ["user", "steps", "assistant", "foot"]);
  assert.deepEqual(list[1].steps.map(({ kind }) => kind), ["assistant", "tool", "assistant", "tool"]);
  assert.equal(list[2].content, "There.");
});

test("what_is_said_into_a_turn_parts_its_steps", () => {
  const t = turn(1);
  const list = turnRows(after([t.queued(), t.call(1), t.result(1), t.steered("in German"), t.says("First."), t.shown(), t.call(2), t.result(2), t.says("Zwei.", { final: true }), t.ends()]));
  assert.deepEqual(kinds(list), ["user", "steps", "assistant", "user", "steps", "assistant", "foot"]);
  assert.equal(list[2].content, "First.", "an answer that was given stays in sight");
});

test("only_what_ended_the_turn_failed_and_the_rest_was_mended", () => {
  const t = turn(1);
  const frames = [t.queued(), t.call(1), t.result(1, { ok: false, refusal: "sql_error" })];
  const came = (list) => turnRows(after(list)).find(({ kind }) => kind === "steps").steps.map((step) => step.came);
  assert.deepEqual(came(frames), ["mended"], "while it runs nothing has failed for good");
  assert.deepEqual(came([...frames, t.says("So not.", { final: true }), t.ends()]), ["mended"]);
  const u = turn(1);
  assert.deepEqual(came([u.queued(), u.call(1), u.result(1, { ok: false }), u.call(2), u.result(2, { ok: false }), u.fails()]), ["mended", "failed"]);
  const order = turn(1);
  assert.deepEqual(came([order.queued("x", { origin: "command" }), order.call(1), order.result(1, { ok: false }), order.ends()]), ["failed"]);
});

test("an_order_is_shown_as_its_step_and_never_by_the_text_that_a_model_reads", () => {
  for (const [ok, came, result] of [[true, "ok", '{"id":2,"title":"Pay rent"}'], [false, "failed", '/nested: "a" is a required property. The parameters schema is: {}']]) {
    const t = turn(1);
    const frames = [t.queued("add a task", { origin: "command" }), t.call(1, "manage_tasks", {}), t.result(1, { ok, result }), t.says(result, { final: true }), t.ends()];
    const list = turnRows(after(frames));
    assert.deepEqual(kinds(list), ["user", "steps", "foot"]);
    assert.equal(list[1].steps[0].came, came);
    assert.equal(list[2].answer, "");
  }
  const order = (said) => {
    const t = turn(1);
    return kinds(turnRows(after([t.queued("x", { origin: "command" }), t.call(1), t.result(1, { ok: false, said }), t.says("It did not succeed.", { final: true }), t.ends()])));
  };
  assert.deepEqual(order("It did not succeed."), ["user", "steps", "foot"], "the step says it");
  assert.deepEqual(order("Nothing else."), ["user", "steps", "assistant", "foot"]);
  const t = turn(1);
  const told = turnRows(after([t.queued("x", { origin: "command" }), t.call(1), t.result(1, { result: '{"message":"Done."}' }), t.says("Done.", { final: true }), t.ends()]));
  assert.deepEqual(kinds(told), ["user", "steps", "assistant", "foot"], "words for a person stay");
});

test("a_stop_in_the_middle_of_an_answer_is_said_once", () => {
  const ended = (...frames) => kinds(turnRows(after(frames)));
  const [t, u] = [turn(1), turn(1)];
  assert.deepEqual(ended(t.queued(), t.says("one", { stopped: true }), t.ends("aborted", { reason: "Stopped." })), ["user", "assistant", "foot"]);
  assert.deepEqual(ended(u.queued(), u.ends("aborted", { reason: "Stopped." })), ["user", "end", "foot"]);
});

test("an_outcome_that_nobody_knows_is_unknown_and_never_a_failure", () => {
  for (const [name, make] of [
    ["the result says so", (t) => [t.result(1, { ok: false, uncertain: true, said: "It may or may not have happened." })]],
    ["an operation says so", (t) => [t.operation(1, "unknown"), t.result(1, { ok: false })]],
    ["of a call that succeeded otherwise", (t) => [t.operation(1, "unknown"), t.result(1)]],
  ]) {
    const t = turn(1);
    const list = turnRows(after([t.queued(), t.call(1, "send", {}), ...make(t), t.fails()]));
    const [step] = list.find(({ kind }) => kind === "steps").steps;
    assert.equal(step.came, "unknown", name);
    assert.match(stepsLine([step]), /1 outcome unknown/);
    assert.doesNotMatch(stepsLine([step]), /fail/i);
  }
});

test("a_person_s_own_no_is_no_failure", () => {
  const t = turn(1);
  const list = turnRows(after([t.queued(), t.call(1), t.approval(1, "pending"), t.approval(1, "denied"), t.result(1, { ok: false, refusal: "denied", result: "The user refused this: no" }), t.fails()]));
  const [step] = list.find(({ kind }) => kind === "steps").steps;
  assert.equal(step.came, "denied");
  assert.equal(saidOf(step), "Nothing was done.", "who refused it is said by the approval");
  assert.equal(outcomeOf({ state: "failed", outcome: { refusal: "expired" } }, { ended: true, turnFailed: true }), "denied");
});

test("no_words_for_the_model_are_said_to_a_person", () => {
  const step = { kind: "tool", name: "execute_sql", state: "failed", came: "mended", outcome: { ok: false, result: "Make it yourself, the user cannot.", said: "The database refused the statement." } };
  assert.equal(saidOf(step), "The database refused the statement.");
  assert.equal(saidOf({ ...step, outcome: { ok: false, result: "missing field `x`" } }), "", "without a sentence none is made up");
  const t = turn(1);
  const due = (frames) => turnRows(after(frames)).find(({ kind }) => kind === "due").content;
  const first = t.queued("Complete each with manage_tasks.", { origin: "task" });
  assert.equal(due([first]), "", "whatever they are");
  assert.equal(due([first, t.fired("The task “x” fell due.")]), "The task “x” fell due.");
});

test("all_that_the_protocol_calls_words_for_a_person_stays_with_the_outcome", () => {
  const protocol = readFileSync(new URL("../../docs/protocol.md", import.meta.url), "utf8");
  const [, table] = /### Words for a person\n([\s\S]*?)\n`ms` of a turn/.exec(protocol);
  const names = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  assert.ok(names.includes("said") && names.includes("fault") && names.length >= 8, names.join());
  const told = Object.fromEntries(names.map((name) => [name, { told: name }]));
  const t = turn(1);
  const [step] = turnRows(after([t.queued(), t.call(1), t.result(1, { ok: false, ...told })])).find(({ kind }) => kind === "steps").steps;
  for (const name of names) assert.deepEqual(step.outcome[name], told[name], name);
});

test("a_capability_that_the_turn_wrote_is_told_of_once", () => {
  const t = turn(1);
  const wrote = [t.queued(), t.call(1, "write_capability", { name: "roman" }), t.capability("roman"), t.result(1, {}, "write_capability")];
  assert.deepEqual(kinds(turnRows(after([...wrote, t.says("x", { final: true }), t.ends()]))), ["user", "steps", "assistant", "foot"]);
  const other = turn(1);
  const list = turnRows(after([other.queued(), other.call(1), other.result(1), other.capability("weather"), other.ends()]));
  assert.ok(kinds(list).includes("capability"), "one that a person installed meanwhile stands there");
});

test("while_a_turn_runs_its_newest_step_is_in_sight_and_rests_come_back_as_they_were", () => {
  const t = turn(1);
  const frames = [t.queued(), t.running(), t.call(1), t.result(1), t.call(2)];
  const state = after(frames);
  const [, steps] = turnRows(state);
  assert.deepEqual([steps.live, steps.steps.at(-1).came], [true, "running"]);
  const again = turnRows(reduce(state, { type: "@connection", status: "connected", failures: 0, retryAt: null }))[1];
  assert.equal(again.steps, steps.steps, "the same array, so that its element is left alone");
  const later = turnRows(reduce(state, t.result(2)))[1];
  assert.notEqual(later.steps, steps.steps);
  const writing = reduce(reduce(state, t.result(2)), { type: "delta", conversation: 1, turn: 1, step: 1, attempt: 1, content: "So" });
  assert.equal(turnRows(writing)[1].live, false, "the answer is in sight then");
});

test("a_message_can_be_edited_and_an_answer_says_where_it_was_tried_again", () => {
  const t = turn(1);
  const u = turn(2, 4);
  const frames = [t.queued(), t.running(), t.says("one", { final: true }), t.ends(), u.queued("second"), u.running(), u.says("two", { final: true })];
  const open = turnRows(after(frames));
  assert.deepEqual(open.filter(({ kind }) => kind === "user").map(({ editAt }) => editAt), [0, undefined], "not while it runs");
  const list = turnRows(after([...frames, u.ends()]), { 2: 9 });
  assert.equal(list.filter(({ kind }) => kind === "user")[1].editAt, 4);
  assert.deepEqual(list.filter(({ kind }) => kind === "assistant").map(({ retried }) => retried), [undefined, 9]);
});

test("only_the_message_that_began_a_turn_is_sent_again", () => {
  const offered = (make, origin = "message") => {
    const t = turn(1);
    const list = turnRows(after([t.queued("Count them", { origin }), ...make(t), t.says("done", { final: true }), t.ends()]));
    const { retryAt, said } = list.at(-1);
    return { edits: list.filter(({ kind }) => kind === "user").map(({ editAt }) => editAt), retryAt, said };
  };
  const decided = (t) => [t.call(1), t.approval(1, "pending"), t.approval(1, "approved"), t.goesOn("CONFIRM"), t.result(1)];
  const steered = (t) => [t.steered("in German"), t.shown()];
  assert.deepEqual(offered(decided), { edits: [0, undefined], retryAt: 1, said: "Count them" }, "the word that decided would come before its question");
  for (const make of [decided, steered]) assert.deepEqual(offered(make, "task"), { edits: [undefined], retryAt: undefined, said: undefined });
  assert.deepEqual(offered((t) => [t.call(1), t.result(1)], "command"), { edits: [undefined], retryAt: undefined, said: undefined }, "an order is for no model");
});

test("a_branch_says_where_it_comes_from", () => {
  const state = reduce(after([]), { type: "@history", conversation: 1, after: 0, from: { conversation: 4, seq: 12 } });
  assert.deepEqual(turnRows(state), [{ key: "branched", kind: "branched", conversation: 4 }]);
  const more = reduce(after([]), { type: "@history", conversation: 1, after: 30, from: undefined });
  assert.deepEqual(turnRows(more), []);
});

test("steps_are_counted_by_kind_and_timed", () => {
  const step = (name, ms, came = "ok") => ({ kind: "tool", name, came, called: true, args: {}, outcome: { ms } });
  const line = stepsLine([step("execute_sql", 100), step("execute_sql", 100), step("write_capability", 900), step("roman", 50), step("weather", 50)]);
  assert.equal(line, "5 steps · 2 SQL, 1 capability written, 2 calls · 1.2 s");
  assert.equal(stepsLine([{ kind: "assistant", content: "x" }]), "1 step · 1 note");
  for (const came of ["denied", "mended"]) assert.equal(stepsLine([step("write_capability", 900, came), step("restart", 100, came)]), "2 steps · 2 calls · 1.0 s", "nothing was written");
  assert.equal(kindWord(step("roman")), "roman");
  assert.equal(doing({ ...step("execute_sql"), args: { query: "SELECT\n 1" } }), "SELECT 1");
  assert.deepEqual([0, 4.4, 999, 1234, 12_000, 59_960, 185_000, undefined, null].map(duration), ["0 ms", "4 ms", "999 ms", "1.2 s", "12 s", "1 min", "3 min 5 s", "", ""]);
});

const { createOrigins, originRows } = await load("chat/origin.js");

test("a_branch_shows_the_turns_before_it_to_be_read_and_no_later_ones", async () => {
  const t = turn(1);
  const u = turn(2, 6);
  const frames = [t.queued("first"), t.call(1), t.result(1, { kept: 2 }), t.says("one", { final: true }), t.ends(), u.queued("second"), u.says("two", { final: true }), u.ends()];
  const rows = originRows(frames, { conversation: 1, seq: 6 }, HELLO);
  assert.deepEqual(kinds(rows), ["user", "steps", "assistant", "foot"]);
  assert.equal(rows[0].content, "first");
  const [, steps, , foot] = rows;
  assert.deepEqual([rows[0].editAt, foot.retryAt, foot.branchAt, steps.steps[0].kept], [undefined, undefined, undefined, 0], "nothing is done from here");
  const asked = [];
  let told = 0;
  const api = { frames: async (...all) => (asked.push(all), { frames }) };
  const origins = createOrigins({ api, told: () => (told += 1) });
  const branch = reduce(reduce(initialState(), { ...HELLO, conversation: 9 }), { type: "@history", conversation: 9, after: 0, from: { conversation: 1, seq: 6 } });
  assert.deepEqual(origins(branch), []);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([kinds(origins(branch)), asked, told], [["user", "steps", "assistant", "foot"], [[1, 7, 1000]], 1]);
  assert.equal(origins(branch), origins(branch), "asked for once");
  assert.deepEqual(origins(after([])), [], "a conversation that is no branch has none");
});

test("a_branch_of_a_branch_shows_its_whole_beginning", async () => {
  const [first, second, third] = [turn(1), turn(2, 6), turn(3)];
  const one = [first.queued("first"), first.says("one", { final: true }), first.ends()];
  const two = [second.queued("second"), second.says("two", { final: true }), second.ends()];
  const three = [third.queued("third"), third.says("three", { final: true }), third.ends()].map((frame) => ({ ...frame, conversation: 16 }));
  const pages = {
    "16 4": { frames: three, before: null, from: { conversation: 1, seq: 9 } },
    "1 10": { frames: two, before: 7 },
    "1 7": { frames: one, before: null },
  };
  const origins = createOrigins({ api: { frames: async (id, before) => pages[`${id} ${before}`] }, told: () => {} });
  const branch = reduce(reduce(initialState(), { ...HELLO, conversation: 17 }), { type: "@history", conversation: 17, after: 0, from: { conversation: 16, seq: 3 } });
  origins(branch);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(origins(branch).filter(({ kind }) => kind === "user").map(({ content }) => content), ["first", "second", "third"]);
});

test("a_turn_that_has_not_changed_keeps_its_rows", () => {
  const t = turn(1);
  const u = turn(2, 6);
  const state = after([t.queued(), t.call(1), t.result(1), t.says("one", { final: true }), t.ends(), u.queued("second")]);
  const before = turnRows(state);
  const later = turnRows(reduce(state, { type: "delta", conversation: 1, turn: 2, step: 1, attempt: 1, content: "So" }));
  assert.ok(before.slice(0, 4).every((row, index) => row === later[index]), "the same objects");
  assert.equal(later.at(-1).content, "So");
  const undone = reduce(state, { type: "undone", conversation: 1, seq: 9, turn: 1, call: 1, rows: 2 });
  assert.equal(turnRows(undone)[1].steps[0].undone, 2, "and what has changed is told");
  assert.equal(turnRows(state, { 1: 9 })[3].retried, 9);
});

test("an_answer_is_known_as_retried_from_the_branches_that_the_server_tells", async () => {
  const [t, u] = [turn(1), turn(2, 3)];
  const state = after([t.queued(), t.says("one", { final: true }), t.ends(), u.queued("second"), u.says("two", { final: true }), u.ends()]);
  const [, second] = turnRows(state).filter(({ kind }) => kind === "foot");
  const at = (conversation, seq) => ({ conversation, seq });
  let branches = [at(4, second.branchAt), at(5, second.retryAt - 1), at(7, second.retryAt), at(9, second.retryAt)];
  const asked = [];
  const told = [];
  const retried = createRetried({ ask: async (method, path) => (asked.push(`${method} ${path}`), { branches }) }, () => told.push("told"));
  assert.deepEqual([retried(state, 1, undefined), asked], [{}, []], "a list that is not there tells nothing");
  retried(after([]), 2, []);
  assert.deepEqual(asked, [], "the server may not have one without a turn");
  retried(state, 1, []);
  await new Promise(setImmediate);
  assert.deepEqual([asked, told], [["GET /api/conversations/1"], ["told"]]);
  const known = retried(state, 1, []);
  assert.deepEqual(known, { 2: 9 }, "the newest retry of the second, which no list has; neither a branch nor an edit of a message is one");
  assert.deepEqual(turnRows(state, known).filter(({ kind }) => kind === "assistant").map(({ retried: where }) => where), [undefined, 9]);
  assert.equal(retried(state, 1, [{ id: 8, from: null }, { id: 6, from: at(2, second.retryAt) }]), known, "the same object, so that rows rest");
  assert.equal(asked.length, 1, "the list has no other branch of it");
  branches = [...branches, at(12, second.retryAt)];
  const entries = [{ id: 12, from: at(1, second.retryAt) }];
  retried(state, 1, entries);
  await new Promise(setImmediate);
  assert.deepEqual([retried(state, 1, entries), asked.length], [{ 2: 12 }, 2]);
});
