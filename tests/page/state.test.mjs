// The reducer: what the page knows after which frames.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { initialState, isBusy, reduce } = await load("core/state.js");
const { capabilityList, taskLists } = await load("core/entries.js");
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

/** Numbers frames the way the server does. */
function stream() {
  let seq = 0;
  const steps = new Map();
  const frame = (fields) => ({ conversation: 1, seq: ++seq, ...fields });
  return {
    queued: (turn, content, id, origin = "message") =>
      frame({ type: "turn", turn, state: "queued", origin, content, id }),
    turn: (turn, state, reason) => frame({ type: "turn", turn, state, reason }),
    assistant: (turn, content, final = true) => {
      const step = (steps.get(turn) ?? 0) + 1;
      steps.set(turn, step);
      return frame({ type: "assistant", turn, content, final, step });
    },
    call: (turn, call, name = "execute_sql") =>
      frame({ type: "tool_call", turn, call, name, arguments: { query: "SELECT 1" } }),
    result: (turn, call, ok = true, name = "execute_sql") =>
      frame({ type: "tool_result", turn, call, name, ok, result: "[]" }),
    failed: (turn, content) => frame({ type: "error", turn, content }),
    task: (task, deleted = false) => frame({ type: "task", task, deleted }),
    capability: (name, version) => frame({ type: "capability", name, version }),
    delta: (turn, step, content, attempt = 1) => ({ type: "delta", conversation: 1, turn, step, attempt, content }),
  };
}

/** A conversation with everything in it. */
function everything() {
  const s = stream();
  return [
    s.queued(1, "one", "id-1"),
    s.turn(1, "running"),
    s.assistant(1, "let me see", false),
    s.call(1, 1),
    s.queued(2, "two", "id-2"),
    s.result(1, 1),
    s.call(1, 2, "write_capability"),
    s.capability("roman", 1),
    s.result(1, 2, false, "write_capability"),
    s.assistant(1, "done"),
    s.turn(1, "completed"),
    s.turn(2, "running"),
    s.task({ id: 7, title: "t", status: "pending", due_at: null }),
    s.failed(2, "no model answers"),
    s.queued(3, "task 7 is due", undefined, "task"),
    s.turn(3, "running"),
    s.turn(3, "aborted", "stopped"),
  ];
}

test("a_call_that_lost_rows_can_be_undone_until_it_was_whichever_frame_comes_first", () => {
  const s = stream();
  const call = s.call(1, 5);
  const result = { ...s.result(1, 5), kept: 3 };
  const undone = { type: "undone", conversation: 1, seq: 9, turn: 1, call: 5, rows: 3 };
  const card = (frames) => rows(after([HELLO, s.queued(1, "one", "id"), ...frames])).find((row) => row.kind === "tool");
  assert.deepEqual([card([call, result]).kept, card([call, result]).undone], [3, undefined]);
  assert.equal(card([call, result, undone]).undone, 3);
  assert.equal(card([undone, result, call]).undone, 3);
  assert.equal(card([call, s.result(1, 5)]).kept, 0);
});

const shape = (state) =>
  rows(state).map((row) => `${row.kind}:${row.content ?? row.name ?? ""}${row.state ? `:${row.state}` : ""}`);

test("a_turn_is_shown_whole_before_the_next_one", () => {
  assert.deepEqual(shape(after([HELLO, ...everything()])), [
    "user:one",
    "assistant:let me see",
    "tool:execute_sql:ok",
    "tool:write_capability:failed",
    "capability:roman",
    "assistant:done",
    "user:two",
    "error:no model answers",
    // Its words are for the model; the frame `fired` would have those for a person.
    "due:",
    "end:stopped:aborted",
  ]);
});

test("frames_that_come_twice_change_nothing", () => {
  const once = after([HELLO, ...everything()]);
  const twice = after(everything(), once);
  assert.deepEqual(rows(twice), rows(once));
  assert.deepEqual(taskLists(twice), taskLists(once));
  assert.equal(twice.lastSeq, once.lastSeq);
});

test("history_that_comes_later_gives_the_same_page_as_history_that_comes_first", () => {
  const frames = everything();
  for (let cut = 1; cut < frames.length; cut++) {
    const late = after([HELLO, ...frames.slice(cut), ...frames]);
    assert.deepEqual(rows(late), rows(after([HELLO, ...frames])), `cut at ${cut}`);
    assert.equal(isBusy(late), false);
  }
});

test("the_acknowledgement_takes_the_message_out_of_the_outbox_and_keeps_its_key", () => {
  const outbox = [{ id: "id-1", content: "one", status: "sending" }];
  const before = after([HELLO, { type: "@outbox", entries: outbox }]);
  assert.deepEqual(
    rows(before).map((row) => [row.key, row.status]),
    [["said:id-1", "sending"]],
  );
  const acknowledged = reduce(before, stream().queued(1, "one", "id-1"));
  assert.deepEqual(acknowledged.outbox, []);
  assert.equal(rows(acknowledged)[0].key, "said:id-1");
});

test("a_refused_message_stays_with_the_reason", () => {
  const state = after([
    HELLO,
    { type: "@outbox", entries: [{ id: "a", content: "x", status: "sending" }] },
    { type: "error", id: "a", content: "too long" },
  ]);
  assert.deepEqual(state.outbox, [{ id: "a", content: "x", status: "refused", error: "too long" }]);
  assert.equal(isBusy(state), false);
});

test("an_error_without_turn_and_id_is_a_notice_that_can_be_dismissed", () => {
  const state = after([HELLO, { type: "error", content: "not JSON" }, { type: "error", content: "not JSON" }]);
  assert.deepEqual(shape(state), ["notice:not JSON"]);
  assert.deepEqual(shape(reduce(state, { type: "@dismiss", key: state.notices[0].key })), []);
  assert.equal(reduce(state, { type: "@dismiss", key: "another" }), state, "nobody is told of a change that is none");
});

test("a_notice_with_a_key_takes_the_place_of_the_last_with_it", () => {
  const said = (content) => ({ type: "error", key: "said", content });
  const state = after([HELLO, said("no 8"), { type: "error", content: "not JSON" }, said("no 9")]);
  assert.deepEqual(shape(state), ["notice:not JSON", "notice:no 9"]);
  assert.deepEqual(shape(reduce(state, { type: "@dismiss", key: "said" })), ["notice:not JSON"]);
});

test("deltas_append_and_the_assistant_frame_replaces_them_in_the_same_row", () => {
  const s = stream();
  const writing = after([
    HELLO,
    s.queued(1, "hi", "a"),
    s.turn(1, "running"),
    s.delta(1, 1, "Hel"),
    s.delta(1, 1, "lo"),
  ]);
  const row = rows(writing)[1];
  assert.deepEqual([row.content, row.streaming, row.final], ["Hello", true, false]);
  const done = after([s.assistant(1, "Hello."), s.delta(1, 1, " late"), s.turn(1, "completed")], writing);
  assert.deepEqual(rows(done).slice(1), [
    {
      key: row.key,
      kind: "assistant",
      content: "Hello.",
      final: true,
      unproven: false,
      streaming: false,
      partial: false,
      stopped: false,
    },
  ]);
});

test("a_higher_attempt_replaces_and_a_lower_one_is_ignored", () => {
  const s = stream();
  const state = after([
    HELLO,
    s.queued(1, "hi"),
    s.delta(1, 1, "old"),
    s.delta(1, 1, "new", 2),
    s.delta(1, 1, " and old", 1),
    s.delta(1, 1, "er", 2),
  ]);
  assert.equal(rows(state)[1].content, "newer");
});

test("a_model_that_fails_is_remembered_until_one_answers_whatever_the_order_of_arrival", () => {
  const s = stream();
  const frames = [
    s.queued(1, "one"),
    { ...s.failed(1, "nobody answers"), failure: "model" },
    s.queued(2, "two"),
    s.assistant(2, "here"),
  ];
  assert.equal(after(frames.slice(0, 2)).model.fails, true);
  assert.equal(after(frames).model.fails, false);
  assert.equal(after(frames.toReversed()).model.fails, false);
});

test("a_delta_of_the_next_step_that_overtakes_the_record_of_the_last_one_is_kept_apart", () => {
  const s = stream();
  const state = after([
    HELLO,
    s.queued(1, "hi"),
    s.delta(1, 1, "first"),
    s.delta(1, 2, "second"),
    s.assistant(1, "first!", false),
    s.call(1, 1),
    s.result(1, 1),
  ]);
  assert.deepEqual(
    rows(state)
      .filter((row) => row.kind === "assistant")
      .map((row) => [row.content, row.streaming]),
    [
      ["second", true],
      ["first!", false],
    ],
  );
  const done = after([s.assistant(1, "second!")], state);
  assert.deepEqual(shape(done).slice(1, 4), ["assistant:first!", "tool:execute_sql:ok", "assistant:second!"]);
});

test("text_of_a_turn_that_was_cut_off_is_marked_and_that_of_a_completed_one_is_dropped", () => {
  const s = stream();
  const writing = after([HELLO, s.queued(1, "hi"), s.turn(1, "running"), s.delta(1, 1, "half")]);
  const stopped = reduce(writing, s.turn(1, "aborted", "stopped"));
  assert.deepEqual(rows(stopped)[1], {
    key: "text:1:1",
    kind: "assistant",
    content: "half",
    final: false,
    unproven: false,
    streaming: false,
    partial: true,
    stopped: false,
  });
  assert.deepEqual(shape(reduce(writing, s.turn(1, "completed"))), ["user:hi"]);
});

test("an_answer_taken_back_and_one_shown_with_a_mark_are_told_apart_and_others_have_none", () => {
  const s = stream();
  const state = after([
    HELLO,
    s.queued(1, "make a table"),
    s.turn(1, "running"),
    s.delta(1, 1, "I have created it."),
    { ...s.assistant(1, "I have created it.", false), unproven: true },
    { ...s.assistant(1, "Done!"), unproven: true },
    s.turn(1, "completed"),
    s.queued(2, "hi"),
    s.assistant(2, "Hello."),
  ]);
  const marks = rows(state)
    .filter((row) => row.kind === "assistant")
    .map(({ content, final, unproven }) => [content, final, unproven]);
  assert.deepEqual(marks, [
    ["I have created it.", false, true],
    ["Done!", true, true],
    ["Hello.", true, false],
  ]);
});

test("text_says_where_the_line_was_down", () => {
  const s = stream();
  const connection = (status) => ({ type: "@connection", status, failures: 0, retryAt: null });
  const state = after([
    HELLO,
    connection("connected"),
    s.queued(1, "hi"),
    s.delta(1, 1, "a"),
    connection("reconnecting"),
    connection("connected"),
    HELLO_AT(1),
    s.delta(1, 1, "b"),
  ]);
  assert.equal(rows(state)[1].content, "a … b");
});

test("an_answer_begun_anew_while_the_line_was_down_lacks_its_beginning", () => {
  const s = stream();
  const connection = (status) => ({ type: "@connection", status, failures: 0, retryAt: null });
  const before = [HELLO, connection("connected"), s.queued(1, "hi"), s.delta(1, 1, "a")];
  const anew = s.delta(1, 1, "rd15", 2);
  const told = (...actions) => rows(after([...before, ...actions]))[1].content;
  assert.equal(told(connection("reconnecting"), connection("connected"), HELLO_AT(1), anew), "… rd15");
  assert.equal(told(anew), "rd15", "its first words came here");
  assert.equal(told(connection("reconnecting"), connection("connected"), HELLO_AT(1), s.turn(1, "running"), anew), "rd15", "this page saw it begin");
});

const HELLO_AT = (lastSeq) => ({ ...HELLO, last_seq: lastSeq });

test("a_call_without_an_outcome_has_failed_when_its_turn_is_over", () => {
  const s = stream();
  const running = after([HELLO, s.queued(1, "hi"), s.turn(1, "running"), s.call(1, 1)]);
  assert.equal(rows(running)[1].state, "running");
  const over = reduce(running, s.failed(1, "crashed"));
  assert.deepEqual([rows(over)[1].state, rows(over)[1].lost], ["failed", true]);
});

test("a_result_whose_call_is_further_back_makes_a_card_of_its_own_until_the_call_comes", () => {
  const s = stream();
  const [queued, call, result] = [s.queued(1, "hi"), s.call(1, 1), s.result(1, 1)];
  const state = after([HELLO, result]);
  assert.deepEqual([rows(state)[0].kind, rows(state)[0].called], ["tool", false]);
  const whole = after([queued, call, result], state);
  assert.deepEqual(
    [rows(whole)[1].called, rows(whole)[1].state, rows(whole)[1].args],
    [true, "ok", { query: "SELECT 1" }],
  );
});

test("busy_means_a_turn_is_queued_or_running_and_a_second_one_waits", () => {
  const s = stream();
  const one = after([HELLO, s.queued(1, "a")]);
  assert.equal(isBusy(one), true);
  assert.deepEqual(shape(one), ["user:a", "working:"]);
  const two = after([s.turn(1, "running"), s.queued(2, "b", "b")], one);
  assert.equal(rows(two).at(-1).status, "queued");
  assert.equal(rows(reduce(two, { type: "@stopping" }))[1].stopping, true);
  const ended = after([s.turn(1, "aborted"), s.turn(2, "aborted")], two);
  assert.equal(isBusy(ended), false);
});

test("an_older_frame_about_a_turn_does_not_undo_its_end", () => {
  const s = stream();
  const [queued, running, done] = [s.queued(1, "a"), s.turn(1, "running"), s.turn(1, "completed")];
  assert.equal(isBusy(after([HELLO, done, queued, running])), false);
});

test("tasks_are_sorted_by_due_time_and_deleted_ones_are_gone", () => {
  const s = stream();
  const task = (id, due_at, status = "pending") => s.task({ id, title: `t${id}`, status, due_at });
  const state = after([
    HELLO,
    task(1, null),
    task(2, "2030-01-02T00:00:00Z"),
    task(3, "2030-01-01T00:00:00Z"),
    task(4, null, "done"),
    s.task({ id: 5, title: "x", status: "pending" }, true),
  ]);
  const { open, closed } = taskLists(state);
  assert.deepEqual([open.map((t) => t.id), closed.map((t) => t.id)], [[3, 2, 1], [4]]);
});

test("an_older_frame_about_a_task_or_capability_does_not_undo_a_newer_one", () => {
  const s = stream();
  const [oldTask, newTask] = [
    s.task({ id: 1, title: "old", status: "pending" }),
    s.task({ id: 1, title: "new", status: "done" }),
  ];
  const [v1, v2] = [s.capability("c", 1), s.capability("c", 2)];
  const state = after([HELLO, newTask, oldTask, v2, v1]);
  assert.equal(taskLists(state).closed[0].title, "new");
  assert.deepEqual(capabilityList(state), [{ name: "c", version: 2, enabled: true }]);
});

test("a_server_with_another_past_starts_the_page_over_but_keeps_the_outbox", () => {
  const entries = [{ id: "z", content: "unsent", status: "sending" }];
  const state = after([
    HELLO,
    ...everything(),
    { type: "@history", after: 0 },
    { type: "@outbox", entries },
    HELLO_AT(2),
  ]);
  assert.deepEqual(shape(state), ["user:unsent"]);
  assert.equal(state.historyAfter, null);
});

test("frames_of_other_conversations_and_of_unknown_types_change_nothing", () => {
  const state = after([HELLO]);
  assert.equal(reduce(state, { ...stream().queued(1, "x"), conversation: 2 }), state);
  assert.equal(reduce(state, { type: "prophecy", conversation: 1, seq: 3 }), state);
  assert.equal(reduce(state, { type: "constructor" }), state);
});
