// Changes in conversations that this tab does not follow: the list that changed is asked for again.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createLists } = await load("core/lists.js");
const { createApi } = await load("core/api.js");
const { withWork } = await load("core/api-work.js");
const { activityMarks, initialWorkspace, mainState, reduceWorkspace, together } = await load("core/workspace.js");

const hello = { type: "hello", conversation: 1, conversations: {}, last_seq: 0, model: {}, version: "1" };
const after = (...actions) => actions.reduce(reduceWorkspace, initialWorkspace());
const connected = { type: "@connection", status: "connected", failures: 0, retryAt: null };
const listed = (...tasks) => ({ type: "@list", kind: "tasks", entries: tasks.map((id) => ({ id, title: `t${id}`, status: "pending", updated_at: "2026-01-01T00:00:00Z" })) });
const ids = (workspace) => [...together(workspace).tasks.keys()];

test("a_list_is_asked_for_again_when_it_changed_elsewhere", async () => {
  const asked = [];
  const api = { list: async (kind) => (asked.push(kind), []) };
  const lists = createLists({ api, dispatch() {}, opened: () => false });
  let workspace = after(hello, connected);
  const look = async () => {
    lists.changed(together(workspace));
    await new Promise((resolve) => setImmediate(resolve));
    return asked.splice(0);
  };
  assert.deepEqual(await look(), [], "the words of the conversation come first");
  workspace = reduceWorkspace(workspace, { type: "@history", conversation: 1, after: 0 });
  assert.deepEqual(await look(), ["capabilities", "tasks", "timer"], "once at the beginning");
  assert.deepEqual(await look(), []);
  workspace = reduceWorkspace(workspace, { type: "changed", list: "capabilities" });
  assert.deepEqual(await look(), ["capabilities"]);
  workspace = reduceWorkspace(workspace, { type: "changed", list: "tasks" });
  workspace = reduceWorkspace(workspace, { type: "changed", list: "tasks" });
  assert.deepEqual(await look(), ["tasks"], "twice in one moment is one question");
});

test("the_list_of_conversations_is_asked_for_when_something_began_or_ended_here_or_elsewhere_and_not_too_often", async () => {
  const asked = [];
  const timers = [];
  const api = { list: async (kind) => (asked.push(kind), []) };
  const lists = createLists({ api, dispatch() {}, opened: () => false, clock: { setTimeout: (run) => timers.push(run) } });
  let workspace = after(hello, connected, { type: "@history", conversation: 1, after: 0 });
  const look = async (...actions) => {
    workspace = actions.reduce(reduceWorkspace, workspace);
    lists.changed({ ...together(workspace), activity: activityMarks(workspace) });
    await new Promise((resolve) => setImmediate(resolve));
    return asked.splice(0).filter((kind) => kind === "conversations").length;
  };
  /** The moment is over in which it was asked for. */
  const later = () => (timers.shift()(), look());
  const elsewhere = { type: "changed", list: "conversations" };
  const turn = (conversation, seq, state) => ({ type: "turn", turn: conversation * 100, state, origin: state === "queued" ? "message" : undefined, conversation, seq });
  assert.equal(await look(), 0, "the shell asks when the line comes up");
  assert.equal(await look(elsewhere), 1);
  assert.equal(await look(elsewhere), 0, "a moment ago");
  assert.equal(await look(elsewhere), 0);
  assert.equal(await later(), 1, "then once for all of them");
  assert.equal(await later(), 0, "and not again");
  assert.equal(await look(turn(1, 1, "queued")), 1, "a turn that is heard here");
  assert.equal(await later(), 0);
  assert.equal(await look(turn(1, 2, "running"), { type: "delta", conversation: 1, turn: 100, step: 1, attempt: 1, content: "x" }), 0);
  assert.equal(await look(turn(1, 3, "completed")), 1);
  assert.equal(await later(), 0);
  assert.equal(await look({ type: "@show", conversation: 7 }, { type: "@frames", conversation: 7, frames: [turn(7, 1, "queued")] }, { type: "@history", conversation: 7, after: 0 }), 0, "one that is opened is no news");
  assert.equal(await look(turn(7, 2, "completed")), 1);
  assert.equal(await later(), 0);
  // One that is followed without its history is heard, too.
  assert.equal(await look({ type: "@follow", conversation: 9, after: 4 }), 0);
  assert.equal(await look(turn(9, 5, "queued")), 1);
});

test("a_task_that_was_deleted_elsewhere_leaves_with_the_list_and_one_that_was_just_made_stays", () => {
  const made = { type: "task", task: { id: 3, title: "new", status: "pending", updated_at: "2026-01-02T00:00:00Z" }, deleted: false, conversation: 1, seq: 4 };
  const before = after(hello, connected, listed(1, 2), made);
  assert.deepEqual(ids(before), [1, 2, 3]);
  assert.deepEqual(ids(reduceWorkspace(before, listed(2))).toSorted(), [2, 3]);
  const failed = reduceWorkspace(before, { type: "@list", kind: "tasks", error: "The server cannot be reached." });
  assert.deepEqual(ids(failed), [1, 2, 3], "what cannot be read is not empty");
  assert.equal(mainState(failed).lists.tasks.error, "The server cannot be reached.");
});

test("orders_go_where_docs_api_says_and_a_refusal_names_the_powers_to_confirm", async () => {
  const asked = [];
  let answer = { status: 200, body: {} };
  const base = createApi(async (path, { method, body }) => {
    asked.push([method, path, body && JSON.parse(body)]);
    return { ok: answer.status < 400, status: answer.status, text: async () => JSON.stringify(answer.body) };
  });
  const { api } = withWork({ api: base });
  await api.addTask({ title: "t" });
  await api.changeTask(3, { due_at: "" });
  await api.deleteTask(3);
  await api.callCapability("a b", { n: 1 });
  await api.capabilityVersion("a");
  await api.capabilityVersion("a", 2);
  await api.capabilityDiff("a", 1, 2);
  await api.testCapability("a", 2);
  await api.turn(4);
  assert.deepEqual(asked, [
    ["POST", "/api/tasks", { title: "t" }],
    ["PATCH", "/api/tasks/3", { due_at: "" }],
    ["DELETE", "/api/tasks/3", undefined],
    ["POST", "/api/capabilities/a%20b/call", { arguments: { n: 1 } }],
    ["GET", "/api/capabilities/a", undefined],
    ["GET", "/api/capabilities/a?version=2", undefined],
    ["GET", "/api/capabilities/a/diff?from=1&to=2", undefined],
    ["POST", "/api/capabilities/a/test?version=2", {}],
    ["GET", "/api/turns/4?wait=true", undefined],
  ]);
  answer = { status: 409, body: { error: "it may do more", grants_in_words: ["Send."] } };
  await assert.rejects(api.rollBack("a", 1), (error) => error.message === "It may do more." && error.status === 409 && error.grants[0] === "Send.");
});
