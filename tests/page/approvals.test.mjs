// The inbox as data: what waits in any conversation, once each, and what was decided.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { initialWorkspace, reduceWorkspace, shownState, waitingEverywhere } = await load("core/workspace.js");
const { approvalsMark, decidedRows, waitingRows } = await load("core/approvals.js");
const { dockRows } = await load("shell/live.js");
const { rows } = await load("chat/view.js");
const { default: en } = await load("words/en-approvals.js");

const HELLO = { type: "hello", version: "0", conversation: 1, last_seq: 0, model: { kind: "tour" }, safe_mode: false };
const SHOWN = { tool: "write_capability", arguments: { name: "weather" }, what: ["Installs a new capability, `weather`."], why: "New powers.", can_always: false };
const entry = (id, conversation, fields = {}) => ({ id, conversation, state: "pending", shown: SHOWN, expires_at: "2030-01-01T00:00:00Z", ...fields });
const turn = (conversation, seq) => ({ type: "turn", conversation, seq, turn: conversation, state: "queued", origin: "message", content: "x" });
const asks = (conversation, seq, id) => ({ type: "approval", conversation, seq, id, state: "pending", call: id, turn: conversation, expires_at: "2030-01-01T00:00:00Z", ...SHOWN });
const list = (kind, entries) => ({ type: "@list", kind, entries });
const after = (...actions) => actions.reduce(reduceWorkspace, initialWorkspace());
const short = (found) => found.map(({ id, conversation, title, sending }) => [id, conversation, title, sending]);
const CONNECTED = { type: "@connection", status: "connected", failures: 0, retryAt: null };
const TITLES = list("conversations", { conversations: [{ id: 1, title: "Books" }, { id: 7, title: "Garden" }] });

test("what_waits_in_any_conversation_stands_in_the_inbox_once_with_where_it_waits", () => {
  const workspace = after(HELLO, CONNECTED, TITLES, turn(1, 1), asks(1, 2, 5), { type: "waiting", approvals: [8] });
  assert.deepEqual(short(waitingRows(workspace)), [[5, 1, "Books", undefined]], "nothing is shown before it is known what it is");
  assert.equal(waitingEverywhere(reduceWorkspace(workspace, { type: "waiting", approvals: [8, 5] })), 2, "each counts once");
  const known = [list("approvals", [entry(8, 7), entry(5, 1)]), list("decisions", [entry(9, 3), entry(8, 7), entry(5, 1)])];
  const all = known.reduce(reduceWorkspace, workspace);
  assert.deepEqual(short(waitingRows(all)), [[5, 1, "Books", undefined], [8, 7, "Garden", undefined], [9, 3, undefined, undefined]]);
  assert.deepEqual(waitingRows(all)[1].shown.what, SHOWN.what);
  assert.ok(waitingRows(all).every(({ connected, state }) => connected && state === "pending"));
});

test("a_decision_under_way_is_seen_and_one_that_was_refused_may_be_made_again", () => {
  const known = after(HELLO, CONNECTED, turn(1, 1), asks(1, 2, 5), { type: "waiting", approvals: [8] }, list("approvals", [entry(8, 7)]));
  const pressed = [8, 5].reduce((workspace, approval) => reduceWorkspace(workspace, { type: "@deciding", approval, decision: "approve" }), known);
  assert.deepEqual(waitingRows(pressed).map(({ sending }) => sending), ["approve", "approve"]);
  const refused = reduceWorkspace(pressed, { type: "error", content: "This approval was decided already." });
  assert.deepEqual(waitingRows(refused).map(({ sending }) => sending), [undefined, undefined]);
});

test("what_was_decided_here_or_elsewhere_leaves_at_once_also_before_the_list_is_asked_for_again", () => {
  const listed = [list("approvals", [entry(8, 7)]), list("decisions", [entry(5, 1)])];
  const known = listed.reduce(reduceWorkspace, after(HELLO, CONNECTED, turn(1, 1), asks(1, 2, 5), { type: "waiting", approvals: [8] }));
  const decided = reduceWorkspace(known, { type: "approval", conversation: 1, seq: 3, id: 5, state: "denied", call: 5, turn: 1, channel: "page" });
  assert.deepEqual(waitingRows(decided).map(({ id }) => id), [8]);
  assert.notEqual(approvalsMark(decided), approvalsMark(known), "the list is asked for again");
  const gone = reduceWorkspace(decided, { type: "waiting", approvals: [] });
  assert.deepEqual(waitingRows(gone), []);
  assert.notEqual(approvalsMark(gone), approvalsMark(decided));
  const stopped = reduceWorkspace(known, { type: "turn", conversation: 1, seq: 3, turn: 1, state: "aborted", reason: "Stopped." });
  assert.deepEqual(waitingRows(stopped).map(({ id }) => id), [8], "a turn that was stopped asks nothing any more");
});

test("decided_ones_say_by_whom_and_through_which_door", () => {
  const entries = [
    entry(5, 1),
    entry(4, 7, { state: "denied", channel: "words", reason: "one host is enough", decided_at: "2026-11-20T08:05:00Z" }),
    entry(3, 1, { state: "expired", channel: "clock" }),
  ];
  const workspace = after(HELLO, CONNECTED, TITLES, list("decisions", entries));
  const found = decidedRows(workspace);
  assert.deepEqual(found.map(({ id, state, channel, title }) => [id, state, channel, title]), [[4, "denied", "words", "Garden"], [3, "expired", "clock", "Books"]]);
  assert.equal(decidedRows(workspace)[0].shown, found[0].shown, "the same row stays the same");
  for (const { channel, state } of found) assert.ok(en.approvals.by[channel] && en.approvals.states[state]);
});

test("a_conversation_shows_its_own_questions_and_the_dock_the_others", () => {
  const workspace = after(HELLO, CONNECTED, TITLES, turn(1, 1), { type: "waiting", approvals: [8, 9] }, list("approvals", [entry(8, 7)]));
  assert.ok(rows(shownState(workspace)).every(({ kind }) => kind !== "approval"));
  const waits = dockRows(workspace, true).filter(({ kind }) => kind === "waits");
  assert.deepEqual(waits.map(({ conversation }) => conversation), [7, undefined]);
  assert.match(waits[0].text, /Garden/);
});
