// How tool calls, results and addresses are put into words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { argumentParts, argumentView, decisionLine, resultView, summarize } = await load("core/format.js");
const { decidingWords, oneLine } = await load("core/text.js");
const { isInlineImage, safeHref } = await load("chat/links.js");

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
  assert.deepEqual(view.columns, [{ name: "a" }, { name: "b" }, { name: "c" }]);
  assert.deepEqual(view.rows, [
    [1, null, null],
    [2.5, null, { d: 1 }],
  ]);
  const cut = resultView('{"rows":[{"b":"x","a":1}],"cut":"Only the first 1 of 9 rows are shown. Use LIMIT."}', {
    columns: [{ name: "a", type: "int8" }, { name: "b", type: "text" }],
    total: 9,
  });
  assert.deepEqual([cut.kind, cut.rows, cut.total], ["table", [[1, "x"]], 9], "columns stand as the server says, and words for the model are left out");
  assert.equal(JSON.stringify(cut).includes("LIMIT"), false);
  const none = resultView("[]", { columns: [{ name: "a", type: "int8" }], total: 0 });
  assert.deepEqual([none.kind, none.rows], ["table", []]);
});

test("fields_beside_rows_are_not_lost_in_a_table", () => {
  const view = resultView('{"rows":[{"a":1}],"warning":"3 rows could not be read"}');
  assert.equal(view.kind, "json");
  assert.match(view.text, /3 rows could not be read/);
  assert.equal(resultView('{"rows":[{"a":1}]}').kind, "table");
});

test("several_statements_are_several_results_and_a_note_for_the_model_is_left_out", () => {
  const { kind, views } = resultView('{"results":[[{"a":1}],{"row_count":2}],"note":"give the model this"}');
  assert.deepEqual([kind, views.map((view) => view.kind)], ["several", ["table", "fields"]]);
  assert.equal(resultView('{"results":[[{"a":1}]],"note":"n"}').kind, "table");
});

test("what_is_no_table_is_fields_json_or_text", () => {
  assert.deepEqual(resultView('{"a":1,"b":null}'), { kind: "fields", fields: [["a", "1"], ["b", "–"]] });
  assert.equal(resultView('{"a":{"b":1}}').kind, "json");
  assert.equal(resultView("[]").kind, "json");
  assert.equal(resultView("[1,2]").kind, "json");
  assert.equal(resultView("[{}]").kind, "json");
  assert.deepEqual(resultView('"MMXXVI"'), { kind: "text", text: "MMXXVI" });
  assert.deepEqual(resultView("[broken"), { kind: "text", text: "[broken" });
  assert.deepEqual(resultView("12345678901234567890"), { kind: "text", text: "12345678901234567890" });
});

test("arguments_are_a_table_and_what_is_code_stays_code", () => {
  const { parts, fields } = argumentView({ n: 4, code: "let a;", deep: { a: [1, "{2}"], b: { c: null, d: {}, e: [] } }, name: "null" });
  assert.deepEqual(parts.map(({ label }) => label), ["code"]);
  assert.deepEqual(fields, [["n", "4"], ["deep › a › 1", "1"], ["deep › a › 2", "{2}"], ["deep › b › c", "–"], ["deep › b › d", "{}"], ["deep › b › e", "[]"], ["name", "null"]], "the text “null” is no null");
  const many = Array.from({ length: 41 }, (_, index) => index);
  assert.deepEqual(argumentView({ many, few: many.slice(39) }).fields, [["many", JSON.stringify(many)], ["few › 1", "39"], ["few › 2", "40"]], "a table is for what can be read");
  let deep = 1;
  for (let level = 0; level < 2000; level += 1) deep = [deep];
  assert.match(argumentView({ deep }).fields.join(), /^deep(?: › 1){5},\[+1\]+$/);
  assert.deepEqual(argumentView("{oops").fields, []);
  assert.equal(argumentView([1]).parts[0].language, "json");
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
  const words = { approve: ["CONFIRMAR", "CONFIRM"], deny: ["CANCELAR", "CANCEL", "no", "nein"] };
  const plain = "Said alone in this conversation, CONFIRM approves, CANCEL or no refuses. A plain yes does not count here.";
  assert.equal(decidingWords(words), plain);
  const declines = " Anything else you say here declines it, and the assistant hears it at once.";
  assert.equal(decidingWords({ ...words, others_decline: true }), plain + declines);
  assert.match(decidingWords({ approve: ["ja", "jawohl"], deny: ["no"] }), /, ja or jawohl approves/, "words of no language that is known here");
  assert.equal(decidingWords({ approve: [], deny: [] }), "");
  assert.match(decisionLine({ state: "denied", channel: "instead" }), /^You denied this by saying something else/);
});
