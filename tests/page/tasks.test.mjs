// Tasks without a browser: days and weeks in the reader's zone, groups, keys, and orders that are
// carried out or not.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

// A zone whose clocks change, so that days of 23 and 25 hours are tried.
process.env.TZ = "Europe/Lisbon";
const days = await load("tasks/days.js");
const { dueOf, placeOfDone } = await load("tasks/due.js");
const { byDay, groupOf, grouped } = await load("tasks/grouping.js");
const { meaningOf, target } = await load("tasks/keys.js");
const { createOrders, isAsked, queuedOrders } = await load("tasks/orders.js");
const { settled } = await load("core/orders.js");
const { onChange } = await load("core/watch.js");
const { initialWorkspace, reduceWorkspace } = await load("core/workspace.js");

const at = (...parts) => new Date(...parts).getTime();
const iso = (...parts) => new Date(...parts).toISOString();
const MONDAY = 1;
const SUNDAY = 7;

test("tasks_stand_in_groups_by_when_they_are_due", () => {
  // A Thursday.
  const now = at(2026, 10, 19, 12, 0);
  const due = (...parts) => ({ status: "pending", due_at: iso(...parts) });
  const group = (task, first = MONDAY) => groupOf(task, now, first);
  assert.equal(group(due(2026, 10, 19, 11, 59)), "overdue");
  assert.equal(group(due(2026, 10, 19, 23, 59)), "today");
  assert.equal(group(due(2026, 10, 20, 0, 0)), "week");
  assert.equal(group(due(2026, 10, 22, 23, 59)), "week", "Sunday ends the week");
  assert.equal(group(due(2026, 10, 22, 0, 0), SUNDAY), "later", "unless it begins one");
  assert.equal(group(due(2026, 10, 23, 0, 0)), "later");
  assert.equal(group({ status: "pending", due_at: null }), "undated");
  assert.equal(group({ ...due(2026, 10, 1), status: "done" }), "done");
  const lists = { open: [due(2026, 10, 25), due(2026, 10, 19, 9)], closed: [{ status: "cancelled" }] };
  assert.deepEqual(grouped(lists, now, MONDAY).map(([name]) => name), ["overdue", "later", "done"]);
});

test("a_week_has_seven_days_also_when_the_clocks_change", () => {
  // In the night to 25 October 2026 the clocks go back.
  const week = days.weekOf(at(2026, 9, 22, 15, 0), MONDAY);
  assert.deepEqual(week.map((day) => new Date(day).getDate()), [19, 20, 21, 22, 23, 24, 25, 26]);
  assert.ok(week.every((day) => new Date(day).getHours() === 0));
  assert.equal(week[7] - week[6], 25 * 3_600_000);
  assert.equal(new Date(days.weekOf(at(2026, 9, 25), SUNDAY)[0]).getDate(), 25);
  assert.equal(new Date(days.weekOf(at(2026, 9, 25), MONDAY)[0]).getDate(), 19);
});

test("a_task_stands_on_its_day_open_ones_first", () => {
  const week = days.weekOf(at(2026, 10, 19), MONDAY);
  const task = (id, ...parts) => ({ id, due_at: iso(...parts) });
  const open = [task(1, 2026, 10, 19, 18), task(2, 2026, 10, 19, 9), { id: 3, due_at: null }, task(4, 2026, 10, 23, 0)];
  const shown = byDay({ open, closed: [task(5, 2026, 10, 19, 1)] }, week);
  assert.deepEqual(shown.map((day) => day.map(({ id }) => id)), [[], [], [], [2, 1, 5], [], [], []]);
});

test("a_moved_task_keeps_its_time_of_day_and_never_lands_in_the_past", () => {
  const now = at(2026, 9, 24, 12, 30);
  assert.equal(days.movedBy(iso(2026, 9, 24, 9, 15), 1, now), iso(2026, 9, 25, 9, 15), "over the change of the clocks");
  assert.equal(days.movedBy(iso(2026, 9, 26, 9, 15), 7, now), iso(2026, 10, 2, 9, 15));
  assert.equal(days.movedBy(null, 1, now), iso(2026, 9, 25, 9, 0), "without a date: from today, in the morning");
  assert.equal(days.movedTo(iso(2026, 9, 20, 9, 15), days.dayStart(now), now), iso(2026, 9, 24, 13, 0), "today, but later");
  assert.equal(days.movedTo(iso(2026, 9, 20, 18, 0), days.dayStart(now), now), iso(2026, 9, 24, 18, 0));
});

test("a_time_goes_through_its_field_and_back", () => {
  assert.equal(days.fieldOfTime(iso(2026, 0, 5, 7, 3)), "2026-01-05T07:03");
  assert.equal(days.timeOfField("2026-07-05T07:03"), "2026-07-05T06:03:00.000Z", "summer in Lisbon");
  assert.equal(days.fieldOfTime(null), "");
  assert.equal(days.timeOfField(""), "");
  assert.equal(days.dayOfName("2026-11-23"), at(2026, 10, 23));
  for (const wrong of [undefined, "", "2026-13-40", "2026-02-30", "tomorrow"]) assert.equal(days.dayOfName(wrong), undefined, wrong);
  assert.equal(days.nameOfDay(at(2026, 10, 23)), "2026-11-23");
});

test("keys_move_among_tasks_and_with_shift_the_task", () => {
  const key = (name, more = {}) => ({ key: name, shiftKey: false, altKey: false, ctrlKey: false, metaKey: false, ...more });
  assert.deepEqual(meaningOf(key("ArrowDown"), false), { go: "next" });
  assert.deepEqual(meaningOf(key("ArrowRight", { shiftKey: true }), false), { move: 1 });
  assert.deepEqual(meaningOf(key("ArrowUp", { shiftKey: true }), true), { move: -7 });
  assert.equal(meaningOf(key("ArrowRight"), false), undefined, "a list has no beside");
  assert.deepEqual(meaningOf(key("ArrowRight"), true), { go: "beside" });
  assert.equal(meaningOf(key("ArrowUp", { altKey: true }), true), undefined, "the shell's");
  assert.deepEqual(meaningOf(key(" "), true), { ticks: true });
  assert.deepEqual(meaningOf(key("Delete"), false), { deletes: true });
  assert.equal(meaningOf(key("Delete", { shiftKey: true }), false), undefined, "it cuts");
  const on = (day) => ({ closest: () => day });
  const all = [on("a"), on("a"), on("b"), on("b"), on(null)];
  assert.equal(target(all, all[0], "beside"), all[2]);
  assert.equal(target(all, all[3], "before"), all[0], "the first of that day");
  assert.equal(target(all, all[3], "beside"), undefined);
  assert.equal(target(all, all[3], "next"), all[4]);
});

/** An interface on which one order stands: `report` is what the turn came to, `frames` what the conversation has. */
const standing = (report, frames = []) => ({
  api: { turn: async () => ({ state: "completed", approval: null, results: [], ...report }), newestFrames: async () => ({ frames }), changeTask: async () => ({ turn: 3, conversation: 1 }), addTask: async () => ({ turn: 3, conversation: 1 }) },
  lists: { load: async () => {} },
});

test("an_order_is_followed_to_its_outcome_in_words", async () => {
  const result = { type: "tool_result", turn: 3, ok: true, said: "Done it.", result: "1" };
  const other = { ...result, turn: 4, said: "Another." };
  const follow = (report, frames) => settled(standing(report, frames).api, { turn: 3, conversation: 1 });
  assert.equal((await follow({}, [result, other])).said, "Done it.");
  assert.deepEqual((({ state, said }) => [state, said])(await follow({}, [{ ...result, ok: false }])), ["failed", "Done it."]);
  assert.equal((await follow({}, [{ ...result, ok: false, uncertain: true }])).state, "unknown", "not simply failed");
  assert.deepEqual(await follow({ state: "awaiting_approval", approval: 9 }), { state: "waits", approval: 9, conversation: 1 });
  assert.deepEqual((({ state, said }) => [state, said])(await follow({ state: "aborted", reason: "stopped" })), ["failed", "stopped"]);
  let asked = 0;
  const slow = { turn: async () => ({ approval: null, state: (asked += 1) < 3 ? "running" : "completed", results: [] }), newestFrames: async () => ({ frames: [result] }) };
  assert.equal((await settled(slow, { turn: 3, conversation: 1 })).state, "done");
  assert.equal(asked, 3, "a turn that runs on is asked about again");
});

test("a_line_that_breaks_does_not_make_an_accepted_order_fail", async () => {
  const answers = [new Error("The server cannot be reached."), Object.assign(new Error("busy"), { status: 503 })];
  const api = {
    turn: async () => {
      if (answers.length > 0) throw answers.shift();
      return { state: "completed", approval: null, results: [{ ok: true }] };
    },
    newestFrames: async () => {
      throw new Error("The server cannot be reached.");
    },
  };
  let pauses = 0;
  const outcome = await settled(api, { turn: 3, conversation: 1 }, undefined, async () => (pauses += 1));
  assert.deepEqual([outcome.state, pauses], ["done", 2]);
  const gone = Object.assign(new Error("there is no turn 3"), { status: 404 });
  await assert.rejects(settled({ turn: async () => Promise.reject(gone) }, { turn: 3, conversation: 1 }), /no turn 3/);
});

test("a_listener_hears_only_of_the_part_that_it_shows", () => {
  const told = [];
  const listen = onChange(({ a, b }) => [a, b], ({ a }) => told.push(a));
  for (const workspace of [{ a: 1, b: 1, c: 1 }, { a: 1, b: 1, c: 2 }, { a: 2, b: 1 }, { a: 2, b: Number.NaN }, { a: 2, b: Number.NaN }]) listen(workspace);
  assert.deepEqual(told, [1, 2, 2]);
});

test("an_order_is_shown_at_once_and_taken_back_with_words_if_it_is_refused", async () => {
  const task = { id: 1, title: "Water", status: "pending", due_at: null };
  const told = [];
  const refused = { type: "tool_result", turn: 3, ok: false, said: "The rules do not allow it." };
  const orders = createOrders({ session: standing({}, [refused]), changed() {}, tell: (text) => told.push(text), signal: new AbortController().signal });
  const running = orders.change(1, "Water", { status: "done", due_at: "" });
  const during = orders.over({ open: [task], closed: [] });
  assert.deepEqual(during.open, []);
  assert.deepEqual(during.closed, [{ ...task, status: "done", due_at: null, saving: "sent" }]);
  await running;
  assert.deepEqual(orders.over({ open: [task], closed: [] }), { open: [task], closed: [] });
  assert.deepEqual(told, ["Water: The rules do not allow it."]);
});

test("a_refused_task_that_goes_back_into_its_form_is_offered_there_alone", async () => {
  const refused = { type: "tool_result", turn: 3, ok: false, said: "The rules do not allow it." };
  const offered = [];
  const tell = (text, outcome, again) => offered.push(typeof again);
  const orders = createOrders({ session: standing({}, [refused]), changed() {}, tell, signal: new AbortController().signal });
  await orders.add({ title: "Water" }, () => false);
  await orders.add({ title: "Water" }, () => true);
  await orders.add({ title: "Water" });
  assert.deepEqual(offered, ["undefined", "function", "function"]);
});

test("an_order_behind_a_question_says_that_it_waits_for_the_answer", async () => {
  const task = { id: 1, title: "Water", status: "pending", due_at: null };
  const orders = createOrders({ session: { ...standing({}), api: { changeTask: () => new Promise(() => {}) } }, changed() {}, tell() {}, signal: new AbortController().signal });
  orders.change(1, "Water", { title: "Other" });
  const [shown] = orders.over({ open: [task, { ...task, id: 2 }], closed: [] }, "behind").open;
  assert.deepEqual([shown.id, shown.saving], [1, "behind"]);
  const frames = [
    { type: "hello", version: "0", conversation: 1, last_seq: 0, model: { kind: "tour" }, safe_mode: false },
    { type: "turn", conversation: 1, seq: 1, turn: 1, state: "queued", origin: "message", content: "x" },
    { type: "approval", conversation: 1, seq: 2, id: 5, state: "pending", call: 5, turn: 1, expires_at: "2030-01-01T00:00:00Z", tool: "call", arguments: {}, what: ["Calls."], why: "x", can_always: false },
    { type: "approval", conversation: 1, seq: 3, id: 5, state: "denied", call: 5, turn: 1, channel: "page" },
  ];
  const asked = (count) => isAsked(frames.slice(0, count).reduce(reduceWorkspace, initialWorkspace()));
  assert.deepEqual([2, 3, 4].map(asked), [false, true, false]);
  for (const language of ["en", "pt"]) {
    const { tasks: words } = await load(`words/${language}-tasks.js`);
    assert.deepEqual(Object.keys(words.saving), ["sent", "behind"]);
    assert.match(words.saving.behind, /question|pergunta/);
  }
});

test("an_order_that_waits_its_turn_is_shown_after_a_reload_too_and_one_of_this_page_once", async () => {
  const queued = (turn, name, args) => [
    { type: "turn", turn, state: "queued", origin: "command", content: "An order" },
    { type: "tool_call", name, arguments: args, call: turn, turn },
  ];
  const frames = [
    { type: "turn", turn: 1, state: "queued", origin: "message", content: "x" },
    { type: "approval", id: 5, state: "pending", call: 1, turn: 1, expires_at: "2030-01-01T00:00:00Z", tool: "call", arguments: {}, what: ["Calls."], why: "x", can_always: false },
    ...queued(2, "manage_tasks", { action: "update", id: 1, title: "Other", due_at: "" }),
    ...queued(3, "manage_tasks", { action: "create", title: "New", due_at: "" }),
    ...queued(4, "roman", { title: "No task" }),
    ...queued(6, "manage_tasks", { action: "delete", id: 1 }),
    { type: "turn", turn: 6, state: "aborted" },
  ].map((frame, index) => ({ ...frame, conversation: 1, seq: index + 1 }));
  const hello = { type: "hello", version: "0", conversation: 1, last_seq: 0, model: { kind: "tour" }, safe_mode: false };
  const waiting = queuedOrders([hello, ...frames].reduce(reduceWorkspace, initialWorkspace()));
  assert.deepEqual(waiting.map(({ turn, id, shown }) => [turn, id, shown]), [[2, 1, { title: "Other", due_at: null }], [3, undefined, { title: "New", due_at: null }]]);

  const task = { id: 1, title: "Water", status: "pending", due_at: iso(2100, 0, 1) };
  let taken;
  const api = { addTask: () => new Promise((resolve) => (taken = () => resolve({ turn: 3, conversation: 1 }))), turn: () => new Promise(() => {}) };
  const orders = createOrders({ session: { ...standing({}), api }, changed() {}, tell() {}, signal: new AbortController().signal });
  const shown = (...all) => orders.over({ open: [task], closed: [] }, "behind", [...waiting, ...all]).open.map(({ id, title, due_at: dueAt, saving }) => [id, title, dueAt, saving]);
  const other = [1, "Other", null, "behind"];
  assert.deepEqual(shown(), [other, ["turn-3", "New", null, "behind"]]);
  orders.add({ title: "New" });
  assert.deepEqual(shown(), [other, ["new-1", "New", null, "behind"]], "the frames may come before the answer to the order");
  taken();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(shown({ turn: 7, shown: { title: "New" } }), [other, ["new-1", "New", null, "behind"], ["turn-7", "New", null, "behind"]], "another tab's of the same name is one more");
});

test("a_second_order_on_a_task_outlives_the_first", async () => {
  const { api, lists } = standing({}, [{ type: "tool_result", turn: 3, ok: true, said: "" }]);
  const waits = [];
  const session = { api: { ...api, turn: (turn) => new Promise((resolve) => waits.push(() => resolve({ state: "completed", approval: null, results: [], turn }))) }, lists };
  const orders = createOrders({ session, changed() {}, tell() {}, signal: new AbortController().signal });
  const first = orders.change(1, "Water", { due_at: "2026-11-23T09:00:00.000Z" });
  const second = orders.change(1, "Water", { title: "Other" });
  while (waits.length < 2) await new Promise((resolve) => setImmediate(resolve));
  waits[0]();
  await first;
  const [task] = orders.over({ open: [{ id: 1, title: "Water", status: "pending", due_at: null }], closed: [] }).open;
  assert.deepEqual([task.title, task.due_at, task.saving], ["Other", "2026-11-23T09:00:00.000Z", "sent"]);
  waits[1]();
  await second;
  assert.equal(orders.over({ open: [{ id: 1, title: "Other" }], closed: [] }).open[0].saving, undefined);
});

test("orders_on_a_task_are_sent_one_after_the_other_and_each_begins_with_what_is_shown", async () => {
  const { api, lists } = standing({}, [{ type: "tool_result", turn: 3, ok: true, said: "" }]);
  const sent = [];
  const changeTask = (_, { due_at: dueAt }) => new Promise((resolve) => sent.push({ dueAt, taken: () => resolve({ turn: 3, conversation: 1 }) }));
  const orders = createOrders({ session: { api: { ...api, changeTask }, lists }, changed() {}, tell() {}, signal: new AbortController().signal });
  const task = { id: 1, title: "Water", status: "pending", due_at: iso(2100, 0, 1, 9, 0) };
  const shown = () => orders.over({ open: [task], closed: [] }).open[0].due_at;
  const presses = [1, 2, 3].map(() => orders.change(1, "Water", { due_at: days.movedBy(shown(), 1, at(2026, 10, 19)) }));
  assert.equal(shown(), iso(2100, 0, 4, 9, 0), "no press is lost");
  for (const [index, day] of [2, 3, 4].entries()) {
    while (sent.length <= index) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([sent.length, sent[index].dueAt], [index + 1, iso(2100, 0, day, 9, 0)], "the next one waits until the server has this one");
    sent[index].taken();
  }
  assert.deepEqual((await Promise.all(presses)).map(({ state }) => state), ["done", "done", "done"]);
});

test("each_kind_of_thing_that_is_due_has_its_words_and_leads_to_its_place", async () => {
  const kinds = [...readFileSync(new URL("../../src/domain/wake_up.rs", import.meta.url), "utf8").matchAll(/ = "(\w+)",/g)].map(([, kind]) => kind);
  const places = { task: "#tasks/7", reminder: "#tasks/7", timer: "#assistant", voice: "#assistant/law", approval: "#approvals", follow_up: "#relay/7", campaign: "#campaigns/7", kept: undefined };
  assert.deepEqual(kinds.toSorted(), Object.keys(places).toSorted(), "the kinds of the server");
  const languages = await Promise.all(["en", "pt"].map((language) => load(`words/${language}-tasks.js`)));
  for (const kind of kinds) {
    const { text, place } = dueOf({ kind, subject: 7, title: "Ada" });
    assert.equal(place, places[kind], kind);
    assert.notEqual(text, dueOf({ kind: "newer", subject: 7, title: null }).text);
    for (const { default: { heartbeat } } of languages) assert.doesNotMatch(heartbeat.kinds[kind]("Ada", 7), /undefined/, kind);
  }
  assert.equal(dueOf({ kind: "timer", subject: 1, title: null }).text.includes("“"), false, "a timer may be for no task");
  assert.deepEqual(dueOf({ kind: "newer", subject: 7, title: null }), { text: "Number 7", place: undefined });
  assert.deepEqual([{ conversation: 3 }, { conversation: 70, instance: 7 }].map(placeOfDone), ["#chat/3", "#relay/7"]);
});
