// Several conversations at once: whose frame goes where, and what the page knows of all of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { alive, initialWorkspace, mainState, reduceWorkspace, seenByConnection, shownState, together, waitingEverywhere, wholeOutbox } =
  await load("core/workspace.js");
const { dockRows, newsOf } = await load("shell/live.js");
const { taskLists } = await load("core/entries.js");

const hello = (fields = {}) => ({ type: "hello", conversation: 1, conversations: {}, last_seq: 0, model: {}, version: "1", ...fields });
const turn = (conversation, seq, fields = {}) => ({
  type: "turn",
  turn: conversation * 100 + seq,
  state: "queued",
  origin: "message",
  content: `m${seq}`,
  conversation,
  seq,
  ...fields,
});
const approval = (conversation, seq, id) => ({
  type: "approval",
  id,
  state: "pending",
  turn: conversation * 100 + 1,
  call: id,
  tool: "x",
  arguments: {},
  what: ["Does it."],
  conversation,
  seq,
});
const after = (...actions) => actions.reduce(reduceWorkspace, initialWorkspace());
const contents = (state) => [...state.items.values()].map((item) => item.content);

test("a_frame_goes_to_its_own_conversation_and_to_no_other", () => {
  const workspace = after(hello(), { type: "@show", conversation: 7 }, turn(7, 1), turn(1, 2), turn(9, 1));
  assert.deepEqual(contents(shownState(workspace)), ["m1"]);
  assert.deepEqual(contents(mainState(workspace)), ["m2"]);
  assert.equal(workspace.states.has(9), false, "nobody opened it");
});

test("the_main_conversation_is_shown_until_another_is_and_survives_the_greeting", () => {
  const early = after({ type: "@show", conversation: 7 }, hello());
  assert.equal(early.shown, 7, "an address may name a conversation before the line is up");
  assert.equal(shownState(early).hello.conversation, 7);
  assert.equal(after(hello()).shown, 1);
  assert.equal(after({ type: "@show", conversation: 1 }, hello()).states.size, 1);
});

test("a_server_with_another_past_leaves_nothing_of_the_old_one", () => {
  const before = after(hello({ last_seq: 5 }), { type: "@history", after: 0 }, turn(1, 5), { type: "@show", conversation: 7 }, turn(7, 1));
  const again = reduceWorkspace(before, hello({ last_seq: 5 }));
  assert.deepEqual([...again.states.keys()].sort(), [1, 7]);
  const fresh = reduceWorkspace(before, hello({ last_seq: 0 }));
  assert.deepEqual([[...fresh.states.keys()], fresh.shown, contents(mainState(fresh))], [[1], 1, []]);
});

test("what_waits_to_be_sent_keeps_its_conversation", () => {
  const entry = (id) => ({ id, content: id, status: "sending" });
  let workspace = after(
    { type: "@outbox", conversation: null, entries: [entry("a")] },
    { type: "@outbox", conversation: 7, entries: [entry("b")] },
    hello(),
  );
  assert.equal(workspace.shown, 1);
  assert.deepEqual(
    wholeOutbox(workspace).map(({ id, conversation }) => [id, conversation]).sort(),
    [["a", undefined], ["b", 7]],
  );
  assert.equal(seenByConnection(workspace).outbox.length, 2);
  workspace = reduceWorkspace(workspace, { type: "error", id: "b", content: "too long" });
  assert.equal(workspace.states.get(7).outbox[0].status, "refused");
  workspace = reduceWorkspace(workspace, turn(1, 1, { id: "a" }));
  assert.deepEqual(wholeOutbox(workspace).map(({ id }) => id), ["b"]);
});

test("approvals_are_counted_wherever_they_wait", () => {
  const workspace = after(
    hello(),
    { type: "@show", conversation: 7 },
    turn(1, 1),
    turn(7, 1),
    approval(1, 2, 4),
    approval(7, 2, 5),
    { type: "waiting", approvals: [6] },
  );
  assert.equal(waitingEverywhere(workspace), 3);
  assert.deepEqual(
    alive(workspace).map(({ conversation, approvals }) => [conversation, approvals]).sort(),
    [[1, 1], [7, 1]],
  );
});

test("tasks_of_all_conversations_are_one_list_and_the_newer_word_holds", () => {
  const task = (id, title, updated_at) => ({ id, title, status: "pending", due_at: null, updated_at });
  const workspace = after(
    hello(),
    { type: "@show", conversation: 7 },
    { type: "@list", kind: "tasks", entries: [task(1, "old", "2026-01-01T00:00:00Z"), task(2, "gone", "2026-01-01T00:00:00Z")] },
    { type: "task", conversation: 7, seq: 3, deleted: false, task: task(1, "new", "2026-01-02T00:00:00Z") },
    { type: "task", conversation: 7, seq: 4, deleted: true, task: task(2, "gone", "2026-01-01T00:00:00Z") },
  );
  assert.deepEqual(taskLists(together(workspace)).open.map(({ title }) => title), ["new"]);
});

test("the_dock_shows_what_is_live_and_out_of_sight", () => {
  const workspace = after(
    hello(),
    { type: "@connection", status: "connected", failures: 0, retryAt: null },
    { type: "@list", kind: "conversations", entries: { conversations: [{ id: 1, title: "Books" }] } },
    { type: "@show", conversation: 7 },
    turn(1, 1),
    turn(7, 1),
    approval(7, 2, 5),
  );
  const kinds = (rows) => rows.map(({ kind, conversation }) => [kind, conversation]);
  assert.deepEqual(kinds(dockRows(workspace, true)), [["runs", 1]], "what is in sight is not said twice");
  assert.match(dockRows(workspace, true)[0].text, /Books/);
  assert.deepEqual(kinds(dockRows(workspace, false)), [["runs", 1], ["waits", 7]]);
  const somewhere = reduceWorkspace(workspace, { type: "waiting", approvals: [9] });
  assert.equal(dockRows(somewhere, false).length, 3);
  assert.equal(dockRows(somewhere, true).length, 2, "it is not in the conversation that is in sight");
  const down = reduceWorkspace(workspace, { type: "@connection", status: "offline", failures: 4, retryAt: 0 });
  assert.deepEqual(kinds(dockRows(down, true)), [["runs", 1]], "a banner says it in every place");
});

/** The server's list, in which a turn runs in these. */
const runsIn = (...ids) => ({ type: "@list", kind: "conversations", entries: { conversations: [1, 7, 8].map((id) => ({ id, title: `t${id}`, running: ids.includes(id), waiting: 0 })) } });

test("the_dock_shows_what_runs_in_conversations_that_are_not_open", () => {
  const shown = (workspace, inChat = false) => dockRows(workspace, inChat).map(({ kind, conversation, text }) => [kind, conversation, text]);
  const fresh = after(hello(), { type: "@history", conversation: 1, after: 0 }, runsIn(7, 8));
  assert.deepEqual(shown(fresh), [["runs", 7, "Working in “t7”"], ["runs", 8, "Working in “t8”"]], "after a reload");
  const asked = [{ type: "waiting", approvals: [5] }, { type: "@list", kind: "approvals", entries: [{ id: 5, conversation: 8, shown: {} }] }];
  const waits = asked.reduce(reduceWorkspace, fresh);
  assert.deepEqual(shown(waits).map(([kind, id]) => [kind, id]), [["waits", 8], ["runs", 7]], "what waits is not said twice");
  assert.deepEqual(shown(reduceWorkspace(fresh, runsIn())), []);
  const opening = reduceWorkspace(fresh, { type: "@show", conversation: 7 });
  assert.deepEqual(shown(opening, true).map(([, id]) => id), [8], "it is in sight");
  const open = reduceWorkspace(opening, { type: "@history", conversation: 7, after: 0 });
  assert.deepEqual(shown(open).map(([, id]) => id), [8], "one that is open tells by itself, whatever the list says");
});

test("the_end_of_a_turn_in_a_conversation_that_is_not_open_is_worth_a_notification", () => {
  const fresh = after(hello(), { type: "@history", conversation: 1, after: 0 }, runsIn(7));
  const seen = newsOf(fresh, undefined);
  assert.equal(seen.finished, false);
  const { finished, ended } = newsOf(reduceWorkspace(fresh, runsIn()), seen);
  assert.deepEqual([finished, ended], [true, 7]);
  const opened = [{ type: "@show", conversation: 7 }, turn(7, 1), { type: "@history", conversation: 7, after: 0 }].reduce(reduceWorkspace, fresh);
  assert.equal(newsOf(opened, seen).finished, false, "it was opened, and goes on");
  const followed = [{ type: "@follow", conversation: 8, after: 0 }, turn(8, 1), runsIn(8)].reduce(reduceWorkspace, fresh);
  const over = reduceWorkspace(followed, { type: "turn", turn: 801, state: "completed", conversation: 8, seq: 2 });
  const told = newsOf(over, newsOf(followed, undefined));
  assert.deepEqual([told.ended, newsOf(reduceWorkspace(over, runsIn()), told).finished], [8, false], "it is told once");
});

test("only_what_is_new_is_worth_a_notification", () => {
  const first = after(hello(), turn(1, 1), approval(1, 2, 5));
  const seen = newsOf(first, undefined);
  assert.deepEqual([seen.approvals, seen.finished], [false, false], "what was there before the page is no news");
  assert.equal(newsOf(first, seen).approvals, false);
  const asked = reduceWorkspace(first, approval(1, 3, 6));
  assert.equal(newsOf(asked, seen).approvals, true);
  const ended = reduceWorkspace(first, { type: "turn", turn: 101, state: "completed", conversation: 1, seq: 4 });
  assert.equal(newsOf(ended, seen).finished, true);
  assert.equal(newsOf(ended, seen).ended, 1, "a press on the notification goes to its conversation");
  assert.equal(newsOf(ended, newsOf(ended, seen)).finished, false, "it is told once");
});
