// How tool calls, results, times and addresses are put into words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { argumentParts, decidingWords, decisionLine, failureLine, oneLine, resultView, summarize } = await load("format.js");
const { dueIn } = await load("times.js");
const { isInlineImage, safeHref } = await load("links.js");

test("each_tool_is_summed_up_in_its_own_words", () => {
  assert.equal(summarize("execute_sql", { query: "SELECT\n  1" }), "SELECT 1");
  assert.equal(summarize("manage_tasks", { action: "complete", id: 4 }), "complete · #4");
  assert.equal(summarize("write_capability", { name: "n", description: "d", code: "…" }), "n · d");
  assert.equal(summarize("restart", { mode: "full" }), "full");
  assert.equal(summarize("other", { a: "x", b: [1] }), "a: x, b: [1]");
  assert.equal(summarize("other", "{oops"), "{oops");
  assert.equal(summarize("other", null), "");
  assert.ok(summarize("execute_sql", { query: "x".repeat(1_000_000) }).length <= 140);
});

test("code_is_shown_as_code_and_the_rest_as_json", () => {
  const parts = argumentParts({ name: "n", code: "let a;", language: "javascript" });
  assert.deepEqual(
    parts.map((part) => [part.label, part.language]),
    [
      ["code", "javascript"],
      ["other arguments", "json"],
    ],
  );
  assert.equal(argumentParts({ source: "(module)", language: "wat" })[0].language, "");
  assert.equal(argumentParts({ query: "SELECT 1" })[0].language, "sql");
  assert.match(argumentParts("{oops")[0].label, /not valid JSON/);
  assert.deepEqual(argumentParts(undefined), []);
});

test("rows_become_a_table_also_when_something_stands_beside_them", () => {
  const view = resultView('[{"a":1,"b":null},{"a":2.5,"c":{"d":1}}]');
  assert.deepEqual(view.columns, [
    { name: "a", numbers: true },
    { name: "b", numbers: false },
    { name: "c", numbers: false },
  ]);
  assert.deepEqual(
    view.rows[1].map((cell) => cell.text),
    ["2.5", "", '{"d":1}'],
  );
  const wrapped = resultView('{"rows":[{"a":"x"}],"row_count":1}');
  assert.deepEqual([wrapped.kind, wrapped.rest], ["table", { row_count: 1 }]);
});

test("what_is_no_table_is_json_or_text", () => {
  assert.equal(resultView('{"a":1}').kind, "json");
  assert.equal(resultView("[]").kind, "json");
  assert.equal(resultView("[1,2]").kind, "json");
  assert.equal(resultView("[{}]").kind, "json");
  assert.deepEqual(resultView('"MMXXVI"'), { kind: "text", text: "MMXXVI" });
  assert.deepEqual(resultView("[broken"), { kind: "text", text: "[broken" });
  assert.deepEqual(resultView("12345678901234567890"), { kind: "text", text: "12345678901234567890" });
});

test("a_failure_is_said_in_its_own_words", () => {
  assert.equal(failureLine('{"error":"syntax_error","message":"unexpected }","line":3}'), "unexpected } (line 3)");
  assert.equal(failureLine('{"error":"missing_function"}'), "missing_function");
  assert.equal(failureLine("plain\nwords"), "plain words");
});

test("due_times_are_seen_from_now", () => {
  const now = Date.parse("2030-01-01T00:00:00Z");
  const at = (seconds) => dueIn(new Date(now + seconds * 1000).toISOString(), now);
  assert.deepEqual(at(20), { text: "due in 20 s", overdue: false });
  assert.equal(at(600).text, "due in 10 min");
  assert.equal(at(7200).text, "due in 2 h");
  assert.equal(at(864_000).text, "due in 10 days");
  assert.deepEqual(at(-90), { text: "due 2 min ago", overdue: true });
  assert.deepEqual(dueIn("garbage", now), { text: "garbage", overdue: false });
});

test("one_line_is_one_line_and_short", () => {
  assert.equal(oneLine(" a \n\n b "), "a b");
  assert.equal(oneLine("abcdef", 4), "abc…");
});

test("links_lead_to_web_pages_and_mail_and_nowhere_else", () => {
  assert.equal(safeHref("https://example.com/a?b#c"), "https://example.com/a?b#c");
  assert.equal(safeHref("mailto:a@example.com"), "mailto:a@example.com");
  for (const bad of [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "java\nscript:alert(1)",
    "\u0000javascript:x",
    "data:text/html,x",
    "vbscript:x",
    "blob:http://x/",
    "file:///etc/passwd",
    "//example.com",
    "/chat",
    "chat",
    "#x",
    "",
    null,
    "http://",
  ]) {
    assert.equal(safeHref(bad), undefined, String(bad));
  }
});

test("only_pictures_that_carry_their_own_bytes_are_shown", () => {
  assert.ok(isInlineImage("data:image/png;base64,iVBORw0KGgo="));
  for (const bad of [
    "http://example.com/a.png",
    "//example.com/a.png",
    "/a.png",
    "data:image/svg+xml;base64,PHN2Zz4=",
    "data:text/html;base64,AA==",
    "",
    null,
  ]) {
    assert.ok(!isInlineImage(bad), String(bad));
  }
});

test("what_a_message_does_to_a_question_is_said_under_it", () => {
  const words = { approve: ["CONFIRMAR", "CONFIRM"], deny: ["no"] };
  const plain = "Said alone in this conversation, CONFIRMAR or CONFIRM approves, no refuses. A plain yes does not count here.";
  assert.equal(decidingWords(words), plain);
  const declines = " Anything else you say here declines it, and the assistant hears it at once.";
  assert.equal(decidingWords({ ...words, others_decline: true }), plain + declines);
  assert.equal(decidingWords({ approve: [], deny: [] }), "");
  assert.match(decisionLine({ state: "denied", channel: "instead" }), /^You denied this by saying something else/);
});
