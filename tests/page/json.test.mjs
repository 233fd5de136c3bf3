// Numbers of JSON keep their digits, from the server's text to what is shown, and from a form to
// the server's text: where a browser tells how they were written, and where it does not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { isPlain, readJson } = await load("core/json.js");
const { argumentParts, argumentView, resultView } = await load("core/format.js");
const { cellText, csvOf, markdownOf, readTable, sortedRows } = await load("ui/table-text.js");
const { chartable, chartOf } = await load("ui/chart-data.js");
const { fieldsOf, readAll, rawOf } = await load("ui/schema.js");
const { shapeOf } = await load("capabilities/figures.js");
const { argumentLines } = await load("campaigns/rows.js");

/** Numbers that a double would write otherwise. */
const NUMBERS = ["9007199254740993", "-9223372036854775808", "12345678901234567890", "123456789.123456789", "1.10", "1.0", "1e20", "1E400", "0.00000001", "-0"];

test("what_is_read_is_written_again_digit_by_digit", () => {
  const text = `{"numbers":[${NUMBERS.join()}],"plain":[0,-1,1.5,9007199254740991,null,true,"x"]}`;
  const read = readJson(text);
  assert.equal(JSON.stringify(read), text);
  assert.deepEqual(read.numbers.map(String), NUMBERS);
  assert.ok(read.numbers.every(isPlain) && !isPlain(read) && !isPlain(read.plain));
  assert.equal(Number(read.numbers[0]), 9007199254740992, "it counts as a number");
  assert.deepEqual(read.plain, [0, -1, 1.5, 9007199254740991, null, true, "x"], "a number that a double holds is one");
});

test("a_text_that_looks_like_a_number_is_a_text_and_no_json_is_none", () => {
  const text = JSON.stringify({ "9007199254740993": 'a 9007199254740993 \\" 1.10', "é": ["1.10", "\\", '"'] });
  assert.equal(JSON.stringify(readJson(text)), text);
  for (const wrong of ["", "01", "1.", "{9007199254740993: 1}", '"a"9007199254740993', "[9007199254740993 1.10]", "1.10.5", "+1.10", "9007199254740993x"]) assert.throws(() => readJson(wrong), SyntaxError, wrong);
  const own = readJson('{"__proto__": 1.10}');
  assert.ok(Object.hasOwn(own, "__proto__") && Object.getPrototypeOf(own) === Object.prototype);
});

test("arguments_are_shown_with_the_digits_they_have", () => {
  const args = readJson('{"code":"x\\ny","limit":{"maximum":9007199254740993},"share":1.10}');
  const { text } = argumentParts(args).at(-1);
  assert.equal(text, '{\n  "limit": {\n    "maximum": 9007199254740993\n  },\n  "share": 1.10\n}');
  assert.deepEqual(argumentView(args).fields, [["limit › maximum", "9007199254740993"], ["share", "1.10"]]);
  assert.equal(argumentLines('{"id":9007199254740993}'), "id: 9007199254740993");
});

test("rows_have_the_digits_of_the_text_shown_copied_and_sorted", () => {
  const result = '{"rows":[{"id":1234567890123456791,"account":1234567890123456791,"sum":1.10,"doc":{"n":9007199254740993}},{"id":2,"account":1234567890123456790,"sum":123456789.123456789,"doc":12345678901234567890}]}';
  for (const columns of [undefined, [{ name: "id", type: "int8" }, { name: "account", type: "int8" }, { name: "sum", type: "numeric" }, { name: "doc", type: "jsonb" }]]) {
    const table = readTable(resultView(result, { columns }));
    assert.deepEqual(table.columns.map(({ kind }) => kind), ["number", "number", "number", "json"]);
    const cells = table.rows.map((row) => row.map((value, at) => cellText(value, table.columns[at], 0)));
    assert.deepEqual(cells.map((row) => row.map(({ text }) => text)), [
      ["1234567890123456791", "1,234,567,890,123,456,791", "1.10", '{"n":9007199254740993}'],
      ["2", "1,234,567,890,123,456,790", "123,456,789.123456789", "12345678901234567890"],
    ]);
    assert.equal(cells[0][1].exact, "1234567890123456791");
    assert.equal(csvOf(table).split("\r\n")[1], '1234567890123456791,1234567890123456791,1.10,"{""n"":9007199254740993}"');
    assert.match(markdownOf(table), /\| 123456789\.123456789 \|/);
    assert.deepEqual(sortedRows(table, 1, false), [1, 0], "by digits that no double has");
  }
  const table = readTable(resultView('[{"name":"a","n":1.50},{"name":"b","n":2}]'));
  assert.deepEqual(chartOf(table, 0, [1], 0).series[0].values, [1.5, 2]);
  assert.ok(chartable(table));
});

test("a_result_of_plain_values_is_facts_with_their_digits", () => {
  assert.deepEqual(resultView('{"id":9007199254740993,"ok":true}'), { kind: "fields", fields: [["id", "9007199254740993"], ["ok", "true"]] });
  assert.deepEqual(shapeOf({ result: '{"id":9007199254740993}' }).entries.map(([name, value]) => [name, String(value)]), [["id", "9007199254740993"]]);
  assert.deepEqual(shapeOf({ result: "[9007199254740993]" }), { kind: "json", text: "[\n  9007199254740993\n]" });
  assert.deepEqual(shapeOf({ result: "1.10" }), { kind: "text", text: "1.10" });
});

test("a_form_sends_the_digits_that_were_written_or_that_its_schema_has", () => {
  const schema = readJson('{"properties":{"any":{},"kind":{"enum":[9007199254740993,1.10]},"n":{"type":"number","default":1.10}}}');
  const fields = fieldsOf(schema);
  assert.deepEqual(fields.map((field) => rawOf(field)), ["", "", "1.10"]);
  assert.equal(JSON.stringify(readAll(fields, ["[9007199254740993, 1.10]", "0", ""]).value), '{"any":[9007199254740993,1.10],"kind":9007199254740993}');
  const [any] = fieldsOf({ properties: { any: { type: "object" } } });
  assert.deepEqual(readAll([any], ["9007199254740993"]).wrong.get(0), { wrong: ["object"] }, "a number is no object");
});
