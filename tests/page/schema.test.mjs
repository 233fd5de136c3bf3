// Forms from a schema, without a browser: which fields there are, and what is read from them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { fieldsOf, rawOf, readAll, readField } = await load("ui/schema.js");
const { fields: words } = await load("words/en-capabilities.js");
const { folderOf, linePoints, shapeOf, tookText } = await load("capabilities/figures.js");

const one = (schema, required = true) => fieldsOf({ type: "object", properties: { x: schema }, required: required ? ["x"] : [] })[0];
const read = (schema, raw, required) => readField(one(schema, required), raw);
const wrong = (schema, raw, required) => read(schema, raw, required).wrong?.[0];

test("a_schema_becomes_fields_and_what_is_deeper_becomes_json", () => {
  const kind = (schema) => one(schema).kind;
  assert.equal(kind({ type: "string" }), "text");
  assert.equal(kind({ type: "integer" }), "number");
  assert.equal(kind({ type: "boolean" }), "flag");
  assert.equal(kind({ enum: ["a", 1] }), "choice");
  assert.equal(kind({ const: 3 }), "choice");
  assert.equal(kind({ type: "array", items: { type: "string" } }), "list");
  assert.equal(kind({ type: ["string", "null"] }), "text");
  for (const deep of [{}, true, { type: "object" }, { type: "array", items: { type: "object" } }, { type: ["string", "number"] }, { anyOf: [{ type: "string" }] }, { $ref: "#/x" }])
    assert.equal(kind(deep), "json", JSON.stringify(deep));
  assert.deepEqual(fieldsOf({ type: "object", properties: {} }), []);
  for (const open of [undefined, {}, { type: "object" }, 3]) assert.deepEqual(fieldsOf(open).map(({ name, kind: each }) => [name, each]), [[null, "json"]]);
});

test("numbers_are_numbers_within_their_bounds", () => {
  assert.deepEqual(read({ type: "integer" }, " 42 "), { value: 42 });
  assert.deepEqual(read({ type: "number" }, "-1.5e3"), { value: -1500 });
  assert.equal(wrong({ type: "number" }, "1,5"), "number");
  assert.equal(wrong({ type: "number" }, "0x10"), "number");
  assert.equal(wrong({ type: "number" }, "1e999"), "number");
  assert.equal(wrong({ type: "integer" }, "1.5"), "whole");
  const sent = (schema, raw) => JSON.stringify(read(schema, raw).value);
  for (const type of ["integer", "number"])
    for (const raw of ["9007199254740993", "-9223372036854775808", "18446744073709551615"]) assert.equal(sent({ type }, raw), raw);
  assert.equal(sent({ type: "integer", maximum: 2 ** 63 }, "+009007199254740993"), "9007199254740993");
  assert.deepEqual([".5", "1.", "-.25", "1.10", "1e3", "-0"].map((raw) => sent({ type: "number" }, raw)), ["0.5", "1", "-0.25", "1.1", "1000", "0"]);
  for (const raw of ["18446744073709551617", "-9223372036854775809", "1.00000000000000000001"]) assert.equal(wrong({ type: "integer" }, raw), "exact", "another number would be sent");
  assert.equal(wrong({ type: "number" }, "0.12345678901234567891"), "exact");
  assert.equal(wrong({ type: "integer", maximum: 10 }, "9007199254740993"), "atMost");
  assert.equal(wrong({ type: "integer", minimum: 1 }, "0"), "atLeast");
  assert.equal(wrong({ type: "integer", maximum: 3 }, "4"), "atMost");
  assert.equal(wrong({ type: "number", exclusiveMinimum: 0 }, "0"), "above");
  assert.equal(wrong({ type: "number", exclusiveMaximum: 1 }, "1"), "below");
});

test("texts_are_read_as_they_are_written", () => {
  assert.deepEqual(read({ type: "string" }, "  a\nb "), { value: "  a\nb " });
  assert.equal(wrong({ type: "string" }, ""), "needed");
  assert.deepEqual(read({ type: "string", minLength: 0 }, ""), { value: "" });
  assert.deepEqual(read({ type: "string" }, "", false), {}, "left out");
  assert.equal(wrong({ type: "string", maxLength: 1 }, "𝔸"), undefined, "one character of two units");
  assert.equal(wrong({ type: "string", maxLength: 1 }, "ab"), "shorter");
  assert.equal(wrong({ type: "string", minLength: 3 }, "ab"), "longer");
  assert.equal(wrong({ type: "string", pattern: "^a+$" }, "b"), "pattern");
  assert.equal(wrong({ type: "string", pattern: "(" }, "b"), undefined, "a pattern that cannot be read here is the server's");
  assert.equal(read({ type: "string", format: "date-time" }, "2026-11-22T14:05").value, new Date(2026, 10, 22, 14, 5).toISOString());
  assert.equal(wrong({ type: "string", format: "date-time" }, "soon"), "time");
});

test("choices_flags_lists_and_json_are_read_too", () => {
  assert.deepEqual(read({ enum: ["a", 1, null] }, "1"), { value: 1 });
  assert.deepEqual(read({ enum: ["a"] }, "", false), {});
  assert.equal(wrong({ enum: ["a"] }, ""), "needed");
  assert.deepEqual(read({ type: "boolean" }, "false"), { value: false });
  assert.deepEqual(read({ type: "boolean" }, "", false), {});
  const list = { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 2 };
  assert.deepEqual(read(list, ["1", "2"]), { value: [1, 2] });
  assert.equal(wrong(list, []), "moreItems");
  assert.equal(wrong(list, ["1", "2", "3"]), "fewerItems");
  assert.deepEqual(read(list, ["1", "x"]), { wrong: ["number"], at: 1 });
  assert.deepEqual(read(list, [], false), {});
  assert.deepEqual(read({ type: "array", items: { type: "string" } }, []), { value: [] });
  assert.deepEqual(read({ type: "object" }, '{"a": [1]}'), { value: { a: [1] } });
  assert.equal(wrong({ type: "object" }, "[1]"), "object");
  assert.equal(wrong({ type: "array" }, "{}"), "array");
  assert.equal(wrong({ type: "object" }, "{"), "json");
});

test("defaults_stand_in_the_fields_from_the_beginning", () => {
  const raw = (schema, required) => rawOf(one(schema, required));
  assert.equal(raw({ type: "integer", default: 3 }), "3");
  assert.equal(raw({ enum: ["a", "b"], default: "b" }), "1");
  assert.equal(raw({ enum: ["a"] }), "0", "there is no other");
  assert.equal(raw({ enum: ["a"] }, false), "");
  assert.equal(raw({ type: "boolean" }), "false");
  assert.equal(raw({ type: "boolean" }, false), "");
  assert.deepEqual(raw({ type: "array", items: { type: "integer" }, default: [1, 2] }), ["1", "2"]);
  assert.equal(raw({ type: "object", default: { a: 1 } }), '{\n  "a": 1\n}');
});

test("a_form_is_sent_whole_or_says_all_that_is_wrong", () => {
  const fields = fieldsOf({ properties: { n: { type: "integer" }, s: { type: "string" }, "__proto__x": { type: "string" } }, required: ["n", "s"] });
  assert.deepEqual(readAll(fields, ["1", "a", ""]).value, { n: 1, s: "a" });
  assert.deepEqual([...readAll(fields, ["x", "", ""]).wrong].map(([at, { wrong: [word] }]) => [at, word]), [[0, "number"], [1, "needed"]]);
  const own = readAll(fieldsOf({ properties: JSON.parse('{"__proto__": {"type": "string"}}') }), ["a"]).value;
  assert.ok(Object.hasOwn(own, "__proto__") && Object.getPrototypeOf(own) === Object.prototype, "a name is a name");
  assert.deepEqual(readAll(fieldsOf({}), ['{"a": 1}']).value, { a: 1 });
  assert.deepEqual(readAll(fieldsOf({}), [""]).value, {});
});

test("there_are_words_for_all_that_can_be_wrong", () => {
  const named = ["needed", "number", "whole", "exact", "atLeast", "atMost", "above", "below", "longer", "shorter", "pattern", "time", "json", "object", "array", "moreItems", "fewerItems"];
  for (const name of named) assert.ok(["string", "function"].includes(typeof words[name]), name);
});

test("a_result_is_rows_facts_text_or_json", () => {
  const shape = (value, more) => shapeOf({ result: typeof value === "string" ? value : JSON.stringify(value), ...more });
  assert.deepEqual(shape([{ a: 1 }, { b: null }]), { kind: "rows", table: { columns: [{ name: "a" }, { name: "b" }], rows: [[1, null], [null, null]], total: 2 } });
  assert.deepEqual(shape({ rows: [{ n: 1 }] }, { columns: [{ name: "n", type: "int8" }], total: 300 }).table, { columns: [{ name: "n", type: "int8" }], rows: [[1]], total: 300 });
  assert.deepEqual(shape({ a: 1, b: "x" }), { kind: "facts", entries: [["a", 1], ["b", "x"]] });
  assert.equal(shape({ a: { b: 1 } }).kind, "json");
  assert.match(shape({ rows: [{ n: 1 }], warning: "3 were left out" }).text, /3 were left out/);
  assert.deepEqual(shape('"MMXXVI"'), { kind: "text", text: "MMXXVI" });
  assert.deepEqual(shape("plain words"), { kind: "text", text: "plain words" });
  assert.deepEqual(shape("42"), { kind: "text", text: "42" });
});

test("a_folder_is_read_from_one_file_or_from_its_files", () => {
  const described = JSON.stringify({ name: "a" });
  const files = [{ name: "capability.json", text: described }, { name: "source.js", text: "x" }];
  assert.deepEqual(folderOf(files), { "capability.json": described, "source.js": "x" });
  const exported = { "capability.json": { name: "a" }, "source.js": "x" };
  assert.deepEqual(folderOf([{ name: "a-v1.json", text: JSON.stringify(exported) }]), exported);
  assert.throws(() => folderOf([{ name: "a.json", text: "{" }]), /noJson/);
  assert.throws(() => folderOf([{ name: "a.json", text: "{}" }]), /noFolder/);
  assert.throws(() => folderOf([{ name: "a.js", text: "x" }]), /noFolder/);
});

test("figures_read_well", () => {
  assert.deepEqual([3, 1240, 59_960, 120_000, null].map(tookText), ["3 ms", "1.2 s", "60.0 s", "2 min", ""]);
  assert.equal(linePoints([0, 2, 1], 10, 4), "0,4 5,0 10,2");
  assert.equal(linePoints([0, 0], 10, 4), "");
  assert.equal(linePoints([], 10, 4), "");
});
