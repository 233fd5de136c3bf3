// The settings as data: what is sent for what stands in the forms, and the licences of what the
// page carries.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { changesOf, setValue } = await load("settings/site-form.js");
const { budgetsOf, LIMITS } = await load("settings/budgets.js");
const { dollarsOf, microsOf } = await load("settings/rates.js");
const { pairsOf } = await load("settings/mcp.js");
const { LICENCES } = await load("settings/licences.js");
const { default: en } = await load("words/en-settings.js");
const { default: pt } = await load("words/pt-settings.js");
const { createApi } = await load("core/api.js");
const { siteApi } = await load("core/api-site.js");

const SETTINGS = [
  { name: "LLM_MODEL", value: "qwen", origin: "environment", can_change: false, waits: false, next: null },
  { name: "LLM_PROVIDER", value: null, origin: "default", can_change: true, waits: false, next: null },
  { name: "HEARTBEAT_INTERVAL", value: "300", origin: "page", can_change: true, waits: true, next: "60" },
  { name: "APPROVAL_EXPIRY", value: "600", origin: "page", can_change: true, waits: true, next: null },
  { name: "LEVEL3_TURN_LOG", value: "0", origin: "page", can_change: true, waits: false, next: null },
];

test("only_what_was_changed_is_sent_and_never_what_the_environment_sets", () => {
  const values = Object.fromEntries(SETTINGS.map(({ name }) => [name, setValue(SETTINGS, name)]));
  assert.deepEqual(values, { LLM_MODEL: "qwen", LLM_PROVIDER: "", HEARTBEAT_INTERVAL: "60", APPROVAL_EXPIRY: "", LEVEL3_TURN_LOG: "0" });
  assert.deepEqual(changesOf(values, SETTINGS), {}, "what waits for the next start is what stands there");
  const changed = { ...values, LLM_MODEL: "other", LLM_PROVIDER: " groq ", HEARTBEAT_INTERVAL: "90", LEVEL3_TURN_LOG: " " };
  assert.deepEqual(changesOf(changed, SETTINGS), { LLM_PROVIDER: "groq", HEARTBEAT_INTERVAL: "90", LEVEL3_TURN_LOG: null });
});

test("an_empty_limit_is_no_limit_and_what_is_no_number_is_named", () => {
  const texts = Object.fromEntries(Object.entries(LIMITS).flatMap(([span, limits]) => limits.map((limit) => [`${span}.${limit}`, ""])));
  const none = budgetsOf(texts);
  assert.deepEqual(none.conversation, { steps: null, input_tokens: null, output_tokens: null, money_micros: null, tool_calls: null });
  assert.equal("wall_seconds" in none.day, false, "seconds are a limit of a turn alone");
  const set = budgetsOf({ ...texts, "turn.steps": "12", "day.money_micros": "2,50", "tasks.percent_of_day": "50" });
  assert.deepEqual([set.turn.steps, set.day.money_micros, set.tasks.percent_of_day], [12, 2_500_000, 50]);
  for (const [name, text, told] of [["turn.steps", "1.5", "20"], ["turn.steps", "-1", "20"], ["day.money_micros", "two", "2.50"], ["turn.money_micros", "0.0000001", "six decimal places"], ["day.input_tokens", "1e9", "20"], ["turn.steps", "99999999999999999999", "At most 9,007"]])
    assert.throws(() => budgetsOf({ ...texts, [name]: text }), ({ at }) => at.field === name && at.says.includes(told), `${name} ${text}`);
});

test("dollars_are_read_and_written_without_losing_anything", () => {
  assert.deepEqual(["0", "2.5", ".25", "2,50", "0.000001", "3.", "1.50000000"].map(microsOf), [0, 2_500_000, 250_000, 2_500_000, 1, 3_000_000, 1_500_000]);
  for (const text of ["", "x", "1.2.3", "-1", "1e3", "∞", ".", "0.0000001", "0.0000015", "1.0000001"]) assert.equal(microsOf(text), undefined, text);
  for (const micros of [0, 1, 150_000, 2_500_000]) assert.equal(microsOf(dollarsOf(micros)), micros);
});

test("headers_and_variables_are_read_line_by_line", () => {
  assert.deepEqual(pairsOf("Authorization: Bearer {{K}}\n\n X-A:b:c ", ":"), { Authorization: "Bearer {{K}}", "X-A": "b:c" });
  assert.throws(() => pairsOf("A=1\nnonsense", "="), /nonsense/);
});

test("every_library_that_is_carried_is_named_with_its_licence", () => {
  const files = readdirSync(new URL("../../static/vendor", import.meta.url)).filter((name) => name.endsWith(".LICENSE"));
  assert.deepEqual(LICENCES.map(({ file }) => file).toSorted(), files.toSorted());
});

test("every_setting_that_can_be_changed_has_its_words", () => {
  const source = readFileSync(new URL("../../src/config/sources.rs", import.meta.url), "utf8");
  const [, list] = /const CHANGEABLE: \[&str; \d+\] = \[([^\]]*)\]/.exec(source);
  const changeable = [...list.matchAll(/"(\w+)"/g)].map(([, name]) => name);
  assert.ok(changeable.includes("LLM_MODEL"), "the server's list was found");
  for (const { names } of [en, pt]) {
    assert.deepEqual(Object.keys(names).toSorted(), changeable.toSorted(), "those that the server lets the page set");
    for (const [name, texts] of Object.entries(names)) assert.ok(texts.length === 3 && texts.every(Boolean), name);
  }
});

test("settings_and_law_are_asked_and_changed_at_their_addresses", async () => {
  const asked = [];
  const { ask } = createApi(async (path, { method, body }) => (asked.push([method, path, body && JSON.parse(body)]), { ok: true, status: 200, text: async () => "{}" }));
  const api = siteApi(ask);
  await api.events({ kind: "turn_ended", tool: "", before: undefined });
  await api.setRule("builder", "a/b", null);
  await api.changePolicy("builder", { mode: "ask" });
  await api.changeSettings({ HEARTBEAT_INTERVAL: null });
  await api.setRate("maker/model", null);
  await api.testModel();
  assert.deepEqual(asked, [
    ["GET", "/api/events?kind=turn_ended", undefined],
    ["PUT", "/api/policy/builder/rules/a%2Fb", { rule: null }],
    ["PUT", "/api/policy/builder", { mode: "ask" }],
    ["PUT", "/api/settings", { HEARTBEAT_INTERVAL: null }],
    ["PUT", "/api/rates/maker%2Fmodel", null],
    ["POST", "/api/models/test", {}],
  ]);
});
