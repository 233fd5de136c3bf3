// Activity as data: events as sentences, a turn as it stood after each of its events, and how much
// of a day's limits is used up.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { limitOf, sentenceOf } = await load("activity/sentences.js");
const { replayed } = await load("activity/replayed.js");
const { queryOf } = await load("activity/events.js");
const { dayLimits } = await load("activity/usage.js");
const { default: en } = await load("words/en-activity.js");
const { default: pt } = await load("words/pt-activity.js");

/** An event of each kind, as the server stores them. */
const STORED = readFileSync(new URL("../../src/facts/stored.jsonl", import.meta.url), "utf8").trim().split("\n").map((line) => JSON.parse(line));

test("every_kind_of_event_that_is_recorded_has_a_sentence_of_its_own", () => {
  const kinds = new Set(STORED.map(({ kind }) => kind));
  assert.ok(kinds.size >= 19);
  for (const event of STORED) {
    const { said, text } = sentenceOf(event, "");
    assert.ok(said.length > 3 && said !== en.said.other, event.kind);
    assert.doesNotMatch(said + text, /undefined|null|\[object/, event.kind);
  }
  for (const kind of kinds) assert.ok(en.kinds[kind], `${kind} can be looked for`);
  assert.equal(sentenceOf({ kind: "something_new" }, "It was new.").said, "It was new.");
});

/** The names that a `text_enum!` of the server has. */
function namesOf(file, name) {
  const [, inside] = new RegExp(`\\b${name} \\{\\n([\\s\\S]*?)\\n    \\}`).exec(readFileSync(new URL(`../../src/domain/${file}`, import.meta.url), "utf8"));
  return [...inside.matchAll(/= "(\w+)"/g)].map(([, text]) => text);
}

test("every_origin_of_a_turn_and_every_power_has_words_in_both_languages", () => {
  const [origins, powers] = [namesOf("turn.rs", "Origin"), namesOf("operation.rs", "OperationKind")];
  assert.ok(origins.includes("follow_up") && origins.includes("message") && powers.includes("browser") && powers.includes("http"), `${origins}; ${powers}`);
  for (const { said } of [en, pt]) {
    assert.deepEqual(origins.filter((origin) => !Object.hasOwn(said.turn_queued, origin)), []);
    assert.deepEqual(powers.filter((power) => !Object.hasOwn(said.power, power)), []);
  }
  assert.equal(sentenceOf({ kind: "turn_queued", origin: "follow_up", content: "for the model" }).said, en.said.turn_queued.follow_up);
  assert.equal(sentenceOf({ kind: "turn_queued", origin: "something_new", content: "" }).said, en.said.other, "nobody wrote");
});

test("a_person_is_not_shown_what_is_written_for_the_model", () => {
  const woken = sentenceOf({ kind: "turn_queued", turn: 1, origin: "task", content: "[heartbeat] complete each with manage_tasks" });
  assert.deepEqual([woken.said, woken.text], [en.said.turn_queued.task, ""]);
  const input = { kind: "turn_queued", turn: 2, origin: "message", content: "[relay] Begin the conversation" };
  const ofContact = sentenceOf(input, "", "contact");
  assert.deepEqual([ofContact.said, ofContact.text], [en.said.turn_queued.contact, ""], "no message came");
  assert.equal(sentenceOf(input, "", "builder").text, input.content);
  const ended = sentenceOf({ kind: "tool_call_ended", name: "weather", outcome: { ok: false, result: '{"cut": 1}' } }, "The capability failed.");
  assert.deepEqual([ended.said, ended.text, ended.tone], ["The capability failed.", "weather", "slip"], "only what ends a turn is a failure of the turn");
  assert.equal(sentenceOf({ kind: "turn_ended", state: "failed", reason: "No model answers." }).tone, "failed");
  const asked = sentenceOf({ kind: "tool_call_proposed", request: { name: "execute_sql", arguments: '{"query":"SELECT 1"}' } });
  assert.equal(asked.text, "SELECT 1");
  assert.equal(sentenceOf({ kind: "tool_call_proposed", request: { name: "x", arguments: "{oops" } }).text, "");
});

test("what_may_or_may_not_have_happened_is_no_failure", () => {
  const uncertain = { ok: false, result: "", account: { uncertain: true } };
  assert.equal(sentenceOf({ kind: "tool_call_ended", name: "x", outcome: uncertain }).tone, "unknown");
  assert.equal(sentenceOf({ kind: "operation_recorded", power: "http", state: "unknown", request: { url: "https://a.example" } }).tone, "unknown");
});

test("a_limit_that_ended_a_turn_names_the_budget_to_change", () => {
  const content = "today the turns that tasks began together have had models read 9 tokens; the limit is 8, a part of the day's (`tasks.percent_of_day`). To raise it, change the budget `day.input_tokens` of this profile in the settings";
  const { said, limit, tone } = sentenceOf({ kind: "step_answered", model: "level3", finish_reason: "limit", content, last: true });
  assert.deepEqual([said, limit, tone], [en.said.limit, "day.input_tokens", "waits"]);
  assert.equal(limitOf("nothing of it"), undefined);
  assert.equal(limitOf("the budget `elsewhere.steps`"), undefined);
});

test("a_turn_stands_after_each_event_as_it_stood_then_forwards_and_backwards", () => {
  const at = (seconds) => new Date(Date.UTC(2026, 10, 22, 8, 0, seconds)).toISOString();
  const step = (usage, cost, model = "m") => ({ kind: "step_answered", model, usage, cost_micros: cost });
  const events = [
    { kind: "turn_queued", at: at(0) },
    { kind: "turn_started", at: at(1) },
    { ...step({ input: 100, output: 10 }, 5), at: at(2) },
    { kind: "tool_call_proposed", at: at(2) },
    { kind: "approval_requested", at: at(2) },
    { kind: "approval_decided", at: at(9) },
    { kind: "turn_resumed", at: at(9) },
    { kind: "turn_started", at: at(9) },
    { kind: "tool_call_ended", outcome: { ok: true }, at: at(10) },
    { ...step({ input: 1, output: 1 }, null), at: at(11) },
    { ...step(null, null, "level3"), at: at(12) },
    { kind: "turn_ended", state: "completed", at: at(12) },
  ];
  const then = events.map((_, index) => replayed(events, index));
  assert.deepEqual(then.map(({ state }) => state).filter((state, index, all) => state !== all[index - 1]), ["queued", "running", "awaiting_approval", "queued", "running", "completed"]);
  assert.deepEqual([then[3].open, then[3].done], [1, 0]);
  assert.deepEqual([then[8].open, then[8].done, then[8].failed], [0, 1, 0]);
  assert.deepEqual([then[2].cost, then[9].cost, then.at(-1).cost], [5, null, null], "one unknown price makes the sum unknown");
  assert.deepEqual([then.at(-1).requests, then.at(-1).input, then.at(-1).ms], [2, 101, 12_000], "what level3 says itself is no request");
  assert.deepEqual(replayed(events, 2), then[2], "going back shows what was there");
});

test("days_of_the_filter_are_the_reader_s_and_the_last_one_is_whole", () => {
  const { from, to, kind } = queryOf({ from: "2026-11-20", to: "2026-11-20", kind: "turn_ended" });
  assert.equal(new Date(from).getTime(), new Date(2026, 10, 20).getTime());
  assert.equal(new Date(to).getTime(), new Date(2026, 10, 21).getTime());
  assert.equal(kind, "turn_ended");
  assert.deepEqual(queryOf({ from: "", to: "" }), { from: "", to: "" });
});

test("only_limits_that_are_set_are_shown_and_what_nobody_knows_is_not_zero", () => {
  const today = { requests: 4, input_tokens: 900, output_tokens: 80, cost_micros: null, tool_calls: { done: 2, failed: 1, open: 5 } };
  const budget = { steps: null, input_tokens: 1000, output_tokens: null, money_micros: 10, tool_calls: 3 };
  assert.deepEqual(dayLimits(budget, today), [
    { limit: "input_tokens", used: 900, of: 1000 },
    { limit: "money_micros", used: null, of: 10 },
    { limit: "tool_calls", used: 3, of: 3 },
  ]);
  assert.deepEqual(dayLimits({}, today), []);
});
