// Lea and Law as data: what the page keeps of timers, reminders and conversations begun anew, the
// rows of a chat, and who may see what.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { askedByCharacters, conversationsOf, isMember, placeOf } = await load("core/characters.js");
const { clockOf, leftOf } = await load("core/countdown.js");
const { hearTime, serverNow } = await load("core/server-clock.js");
const { initialWorkspace, mainState, reduceWorkspace, timersMark } = await load("core/workspace.js");
const { initialState, reduce } = await load("core/state.js");
const { rows } = await load("chat/view.js");
const { turnRows } = await load("chat/turns.js");
const { chatRows, MOST_MESSAGES } = await load("assistant/rows.js");
const { movedStep } = await load("assistant/acts.js");
const { minutesOf } = await load("assistant/dialogs.js");
const { clientName } = await load("settings/me.js");
const { limitOf } = await load("settings/tiers.js");
const { todoNews } = await load("shell/todo-news.js");
const { todoApi } = await load("core/api-todo.js");
const { dockRows } = await load("shell/live.js");
const { PLACES, placesFor } = await load("shell/places.js");
const { createSession } = await load("core/session.js");

const hello = { type: "hello", conversation: 1, conversations: { builder: 1, lea: 21 }, last_seq: 0, model: {}, version: "1" };
const membersHello = { ...hello, conversation: 21, conversations: { lea: 21 } };
const connected = { type: "@connection", status: "connected", failures: 0, retryAt: null };
const of = (frames, conversation = 1) => frames.map((frame, index) => ({ conversation, seq: index + 1, at: "2026-11-23T08:00:00Z", ...frame }));
const stateOf = (...frames) => [hello, { type: "@history", after: 0 }, ...of(frames)].reduce(reduce, initialState());
const queued = (turn, content, more = {}) => ({ type: "turn", turn, state: "queued", origin: "message", content, ...more });
const answer = (turn, content) => ({ type: "assistant", turn, step: 1, content, final: true });
const over = (turn) => ({ type: "turn", turn, state: "completed" });

test("a_clock_shows_begun_seconds_and_hours_only_from_one_on", () => {
  assert.deepEqual([0, 1, 999, 1000, 1001, 59_000, 61_000, 3_600_000, 3_665_500].map(clockOf), ["0:00", "0:01", "0:01", "0:01", "0:02", "0:59", "1:01", "1:00:00", "1:01:06"]);
});

test("what_is_left_counts_down_while_it_runs_and_stands_still_while_it_is_paused", () => {
  const running = { state: "running", ends_at: "2026-11-23T08:25:00Z", left_ms: null };
  const now = Date.parse("2026-11-23T08:00:30Z");
  assert.equal(leftOf(running, now), 24.5 * 60_000);
  assert.equal(leftOf(running, now + 3_600_000), 0, "never below nothing");
  assert.equal(leftOf({ state: "paused", ends_at: null, left_ms: 5000 }, now), 5000);
  assert.equal(leftOf({ state: "idle", ends_at: null, left_ms: null }, now), 0);
});

test("the_clock_of_the_server_counts_and_a_second_of_delay_is_no_difference", () => {
  const now = Date.parse("2026-11-23T08:00:00Z");
  const heard = (date) => (hearTime(date, now), serverNow(now) - now);
  assert.equal(heard("Mon, 23 Nov 2026 07:59:59 GMT"), 0, "the word took a second");
  assert.equal(heard("Mon, 23 Nov 2026 09:00:00 GMT"), 3_600_500, "this machine is an hour behind");
  assert.equal(heard("Mon, 23 Nov 2026 09:00:01 GMT"), 3_600_500, "what is shown does not jump by a second");
  for (const nothing of [undefined, null, "", "soon"]) assert.equal(heard(nothing), 3_600_500, `${nothing}`);
  assert.equal(heard("Mon, 23 Nov 2026 08:00:00 GMT"), 0, "it was put right");
});

test("the_end_of_the_timer_and_a_reminder_are_lines_and_other_changes_are_none", () => {
  const state = stateOf(
    { type: "timer", timer: { state: "running" }, over: false, content: "The timer is running now." },
    { type: "timer", timer: { state: "idle" }, over: true, content: "The timer is over." },
    { type: "reminder", task: 3, remind_at: "2026-11-23T08:00:00Z", late: true, content: "Reminder (late): Milk" },
  );
  assert.deepEqual(rows(state).map(({ kind, content }) => [kind, content]), [["timer", "The timer is over."], ["reminder", "Reminder (late): Milk"]]);
  assert.equal(state.timerSeq, 2);
});

test("nothing_before_a_conversation_was_begun_anew_is_shown", () => {
  const before = stateOf(queued(1, "old"), answer(1, "older"), over(1));
  const [anew, said] = [{ type: "anew", after: 1 }, queued(2, "new")].map((frame, index) => ({ ...frame, conversation: 1, seq: 4 + index }));
  const after = reduce(reduce({ ...before, historyAfter: 7 }, anew), said);
  assert.deepEqual(rows(after).filter(({ kind }) => kind === "user").map(({ content }) => content), ["new"]);
  assert.equal(after.historyAfter, 0, "nothing earlier is loaded either");
  assert.deepEqual([...after.turns.keys()], [2]);
});

test("a_word_about_a_turn_stands_in_place_of_working_until_something_is_recorded", () => {
  const waits = stateOf(queued(1, "hello"), { type: "turn", turn: 1, state: "running" });
  const working = (state) => rows(state).find(({ kind }) => kind === "working");
  assert.equal(working(waits).notice, undefined);
  const told = reduce(waits, { type: "notice", conversation: 1, turn: 1, content: "Taking longer than expected..." });
  assert.equal(working(told).notice, "Taking longer than expected...");
  const called = reduce(told, { type: "tool_call", turn: 1, call: 1, name: "listTasks", arguments: {}, conversation: 1, seq: 3 });
  const ended = reduce(called, { type: "tool_result", turn: 1, call: 1, name: "listTasks", result: "{}", ok: true, conversation: 1, seq: 4 });
  assert.equal(working(ended).notice, undefined, "the next step may be quick again");
  assert.equal(reduce(ended, { type: "notice", conversation: 1, turn: 9, content: "x" }), ended, "a turn that nobody knows");
});

test("a_message_beyond_the_limit_says_that_another_tier_would_allow_it", () => {
  const outbox = [{ id: "a", content: "hi", status: "sending" }, { id: "b", content: "ho", status: "sending" }];
  const state = reduce(reduce(stateOf(), { type: "@outbox", entries: outbox }), { type: "error", id: "a", content: "You've reached your daily message limit. Upgrade for more!", upgrade: true });
  assert.deepEqual(state.outbox[0], { ...outbox[0], status: "refused", error: "You've reached your daily message limit. Upgrade for more!", upgrade: true });
  assert.deepEqual(state.outbox[1], outbox[1]);
});

const order = (turn, name, result) => [
  queued(turn, `${name} #3`, { origin: "command", id: `order-${turn}` }),
  { type: "tool_call", turn, call: turn, name, arguments: {} },
  { type: "tool_result", turn, call: turn, name, result: "{}", ok: true, ...result },
  answer(turn, result.said),
  over(turn),
];

test("what_a_person_pressed_is_one_line_and_no_message", () => {
  const state = stateOf(...order(1, "completeTask", { said: "Completed “Milk”." }), ...order(2, "completeTask", { ok: false, said: "“Milk” is completed already." }), queued(3, "thanks"), answer(3, "Got it. ✓"), over(3));
  const shown = chatRows(turnRows(state), state, "Lea");
  assert.deepEqual(
    shown.map(({ kind, content, failed }) => [kind, content, failed]),
    [["pressed", "Completed “Milk”.", false], ["pressed", "“Milk” is completed already.", true], ["user", "thanks", undefined], ["assistant", "Got it. ✓", undefined], ["foot", undefined, undefined]],
  );
  assert.equal(new Set(shown.map(({ key }) => key)).size, shown.length, "each has a key of its own");
  const [said, told, foot] = shown.slice(2);
  assert.deepEqual([said.editAt, told.speaker, foot.retryAt, foot.branchAt], [undefined, "Lea", undefined, undefined], "a chat with a character has no branches");
});

test("an_answer_that_was_spoken_says_from_which_sentence_on_it_was_not_heard", () => {
  const marks = (state, ...all) => all.reduce((now, [place, text]) => reduce(now, { type: "@unheard", place, text }), state);
  const notes = (state) => chatRows(turnRows(state), state, "Law").filter(({ kind }) => kind === "assistant").map(({ note }) => note);
  const state = stateOf(queued(1, "list"), answer(1, "One. Two. Three."), over(1), queued(2, "more"), answer(2, "Four."), over(2));
  assert.deepEqual(notes(state), [undefined, undefined]);
  assert.deepEqual(notes(marks(state, ["1:1", "Two."], ["1:1", "Three."])), ["Not heard from “Two.” on.", undefined], "the first one counts");
  assert.deepEqual(notes(marks(state, ["2:1", ""])), [undefined, "Not heard."]);
  // Text that is written before a call is a step of its turn.
  const called = stateOf(queued(1, "list"), { ...answer(1, "Let me look."), final: false }, { type: "tool_call", turn: 1, call: 3, name: "listTasks", arguments: {} });
  const steps = (now) => chatRows(turnRows(now), now, "Law").find(({ kind }) => kind === "steps");
  assert.equal(steps(marks(called, ["1:1", "Let me look."])).steps[0].note, "Not heard from “Let me look.” on.");
  assert.equal(steps(called).steps, steps(called).steps, "without a note it rests");
});

test("a_question_names_the_tasks_that_a_yes_is_about", () => {
  const asked = { tool: "clearCompletedTasks", arguments: { confirmed: true, target: { tasks: [3, 9], subtasks: 0 } }, what: ["Should I delete 2 completed tasks?"], question: "Should I delete 2 completed tasks?", why: "" };
  const state = stateOf(
    { type: "task", task: { id: 3, title: "Milk", status: "done", updated_at: "2026-11-23T08:00:00Z" }, deleted: false },
    queued(1, "clear"),
    { type: "tool_call", turn: 1, call: 1, name: "clearCompletedTasks", arguments: {} },
    { type: "approval", id: 5, state: "pending", call: 1, turn: 1, ...asked },
  );
  const row = chatRows(turnRows(state), state, "Lea").find(({ kind }) => kind === "approval");
  assert.equal(row.shown.question, "Should I delete 2 completed tasks?");
  assert.equal(row.targets, "Milk\n#9");
});

test("what_came_of_an_order_stands_behind_the_question_about_it", () => {
  const [said, call, result, ...rest] = order(1, "deleteTask", { said: "Deleted the task “Milk”." });
  const asked = { type: "approval", id: 5, state: "pending", call: 1, turn: 1, tool: "deleteTask", arguments: {}, what: [], question: "Should I?", why: "" };
  const state = stateOf(said, call, asked, { type: "approval", id: 5, state: "approved", call: 1, turn: 1 }, result, ...rest);
  assert.deepEqual(chatRows(turnRows(state), state, "Lea").map(({ kind }) => kind), ["approval", "pressed"]);
});

test("a_chat_is_its_newest_50_messages", () => {
  const state = stateOf(...Array.from({ length: 40 }, (_, index) => [queued(index + 1, `m${index}`), answer(index + 1, `a${index}`), over(index + 1)]).flat());
  const shown = chatRows(turnRows(state), state, "Lea");
  const messages = shown.filter(({ kind }) => kind === "user" || kind === "assistant");
  assert.equal(messages.length, MOST_MESSAGES);
  assert.deepEqual([messages[0].content, messages.at(-1).content], ["m15", "a39"]);
});

const workspaceOf = (...actions) => [hello, connected, ...actions].reduce(reduceWorkspace, initialWorkspace());
const assistantListed = (conversations, more = {}) => ({ type: "@list", kind: "timer", entries: { conversations, timer: { state: "idle" }, timed: null, ...more } });

test("a_character_is_known_by_the_greeting_and_by_the_list", () => {
  const workspace = workspaceOf(assistantListed({ lea: 21, law: 22 }));
  assert.deepEqual(conversationsOf(workspace), { lea: 21, law: 22 });
  assert.deepEqual([21, 22, 1, undefined].map((id) => placeOf(workspace, id)), [["assistant", "lea"], ["assistant", "law"], undefined, undefined]);
  assert.deepEqual(conversationsOf(initialWorkspace()), {});
});

test("the_operators_conversation_stands_in_its_place_and_single_turns_of_it_in_chat", () => {
  const row = (id, profile, main) => ({ id, profile, main });
  const workspace = workspaceOf({ type: "@list", kind: "conversations", entries: { conversations: [row(1, "builder", true), row(5, "operator", true), row(6, "lea", false)] } });
  assert.deepEqual([1, 5, 6].map((id) => placeOf(workspace, id)), [undefined, ["operator"], undefined], "one that was made since the greeting, too");
  assert.equal(placeOf(workspace, 5, "12"), undefined);
  assert.deepEqual(placeOf(workspaceOf({ ...hello, conversations: { ...hello.conversations, operator: 9 } }), 9), ["operator"]);
});

test("a_member_is_one_whose_main_conversation_is_with_lea_and_has_fewer_places", () => {
  assert.deepEqual([hello, membersHello, { ...hello, conversations: {} }, null, undefined].map(isMember), [false, true, false, false, false]);
  assert.deepEqual(placesFor(true).map(({ id }) => id), ["approvals", "assistant", "tasks", "settings"]);
  assert.deepEqual(placesFor(false), PLACES, "the owner has all of them");
});

test("nothing_of_the_owners_is_asked_for_a_member", async () => {
  const asked = [];
  const fetch = async (path) => (asked.push(path), { ok: true, status: 200, text: async () => '{"tasks":[]}' });
  class Socket {
    constructor() {
      Socket.last = this;
    }
    send() {}
    close() {}
  }
  const storage = { getItem: () => null, setItem() {}, removeItem() {} };
  const session = createSession({ storage, url: "ws://x/chat", fetch, Socket, schedule: (tell) => tell() });
  session.start();
  Socket.last.onmessage({ data: JSON.stringify(membersHello) });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(asked.toSorted(), ["/api/assistant", "/api/tasks"]);
});

test("questions_of_the_characters_are_counted_where_they_are_asked", () => {
  const pending = { type: "approval", id: 5, state: "pending", call: 1, turn: 1, tool: "deleteTask", arguments: {}, what: [], question: "Should I?", conversation: 21, seq: 2 };
  const open = workspaceOf({ type: "@follow", conversation: 21, after: 0 }, pending);
  assert.equal(askedByCharacters(open), 1);
  const elsewhere = workspaceOf({ type: "waiting", approvals: [5, 6] }, { type: "@list", kind: "approvals", entries: [{ id: 5, conversation: 21, shown: {} }, { id: 6, conversation: 1, shown: {} }] });
  assert.equal(askedByCharacters(elsewhere), 1);
  assert.equal(askedByCharacters(workspaceOf()), 0);
});

test("the_timer_stands_in_the_dock_of_every_place_while_it_is_not_idle", () => {
  assert.deepEqual(dockRows(workspaceOf(assistantListed({})), false), []);
  const timer = { state: "paused", minutes: 25, task: 3, ends_at: null, left_ms: 5000 };
  const [row] = dockRows(workspaceOf(assistantListed({}, { timer, timed: "Milk" })), true);
  assert.deepEqual(row, { key: "timer", kind: "timer", timer, title: "Milk" });
  assert.notEqual(timersMark(workspaceOf()), timersMark(workspaceOf({ type: "@follow", conversation: 21, after: 3 }, { type: "timer", timer, over: false, content: "", conversation: 21, seq: 4 })));
});

test("what_comes_in_is_told_once_and_history_never", () => {
  const told = [];
  const news = todoNews(({ content }) => told.push(content));
  const reminder = (seq, conversation) => ({ type: "reminder", task: 3, remind_at: "", late: false, content: `${conversation}:${seq}`, conversation, seq });
  let workspace = workspaceOf({ type: "@history", after: 0 });
  news(workspace);
  const next = (...actions) => {
    workspace = actions.reduce(reduceWorkspace, workspace);
    news(workspace);
    return told.splice(0);
  };
  assert.deepEqual(next({ type: "@follow", conversation: 21, after: 7 }), []);
  assert.deepEqual(next(reminder(8, 21)), ["21:8"]);
  assert.deepEqual(next(reminder(8, 21), reminder(9, 21)), ["21:9"], "the same frame again is the same reminder");
  assert.deepEqual(next({ type: "@frames", conversation: 21, frames: [reminder(2, 21), reminder(7, 21)] }, { type: "@history", conversation: 21, after: 0 }), [], "loaded when it was opened");
  assert.deepEqual(next(reminder(1, 1)), ["1:1"]);
  assert.deepEqual(next({ type: "@show", conversation: 30 }, { type: "@frames", conversation: 30, frames: [reminder(4, 30)] }, { type: "@history", conversation: 30, after: 0 }), [], "one that is opened for the first time");
  assert.deepEqual(next(reminder(5, 30)), ["30:5"]);
  assert.equal(mainState(workspace).items.size, 1);
});

test("steps_minutes_and_limits_are_read_as_they_are_meant", () => {
  assert.deepEqual(movedStep(["a", "b", "c"], 0, 1), ["b", "a", "c"]);
  assert.deepEqual(movedStep(["a", "b", "c"], 2, 1), ["a", "c", "b"]);
  assert.deepEqual(["25", " 1 ", "600", "0", "601", "2.5", "", "x", "-3"].map(minutesOf), [25, 1, 600, undefined, undefined, undefined, undefined, undefined, undefined]);
  assert.deepEqual(["", "  ", "0", "100", "2147483647"].map((text) => limitOf("messages_per_day", text)), [null, null, 0, 100, 2_147_483_647]);
  const wrong = { field: "messages_per_day", says: "A whole number up to 2,147,483,647, or nothing." };
  for (const text of ["-1", "1.5", "many", "2147483648", "99999999999999999999"])
    assert.throws(() => limitOf("messages_per_day", text), ({ at }) => (assert.deepEqual(at, wrong, text), true));
});

test("presses_and_users_go_where_docs_api_says", async () => {
  const asked = [];
  const api = todoApi(async (...all) => asked.push(all));
  await api.todo("law", "setReminder", { taskName: "#3", at: "2026-11-23T08:00:00Z" });
  await api.beginAnew("lea");
  await api.setTier("free", { messages_per_day: null });
  await api.removeUser("a/b", "a/b");
  await api.setMyPassword("twelve letters");
  assert.deepEqual(asked, [
    ["POST", "/api/assistant/functions/setReminder?profile=law", { taskName: "#3", at: "2026-11-23T08:00:00Z" }],
    ["DELETE", "/api/assistant/chat?profile=lea"],
    ["PUT", "/api/tiers/free", { messages_per_day: null }],
    ["DELETE", "/api/users/a%2Fb?confirm=a%2Fb"],
    ["PUT", "/api/me/password", { password: "twelve letters" }],
  ]);
});

test("a_browser_is_named_in_short_and_what_is_none_by_its_own_words", () => {
  const said = ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/148.0 Safari/537.36 Edg/148.0", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1", "curl/8"];
  assert.deepEqual(said.map(clientName), ["Firefox, Linux", "Edge, Windows", "Safari, iPhone", "curl/8"]);
});
