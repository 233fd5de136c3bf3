// Rows of a query: how columns are read, cells written, rows sorted, copied and drawn. And text
// files in a message.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

process.env.TZ = "Europe/Lisbon";
const { cellText, csvOf, isId, kindOf, markdownOf, readTable, sortedRows, timeOf } = await load("ui/table-text.js");
const { chartable, chartOf, figuresBeside } = await load("ui/chart-data.js");
const { partsOf } = await load("chat/file-block.js");
const { refusal } = await load("core/outbox.js");
const { clockTime, localTime, shortTime, timeOfDay } = await load("core/times.js");
const { isTextFile, readTextFiles, withFiles } = await load("chat/files.js");
const { namedElsewhere } = await load("chat/links.js");
const { suggestionsOf } = await load("chat/greetings.js");

const NOW = Date.parse("2026-11-22T12:00:00Z");
const table = (columns, rows, total) => readTable({ columns: columns.map(([name, type]) => ({ name, type })), rows, total });

test("a_column_is_what_its_type_says_or_without_one_what_is_in_it", () => {
  assert.deepEqual(["int8", "numeric", "float4", "date", "timestamptz", "timestamp", "bool", "jsonb", "text", "int4[]", "interval", "integer"].map((type) => kindOf(type, [])), ["number", "number", "number", "date", "stamp", "stamp", "bool", "json", "text", "text", "text", "number"]);
  assert.equal(kindOf(undefined, [1, null, 2.5]), "number");
  assert.equal(kindOf(undefined, ["2026-01-02", null]), "date");
  assert.equal(kindOf(undefined, ["2026-01-02 10:00:00+00"]), "stamp");
  assert.equal(kindOf(undefined, ["2026-01-02", "soon"]), "text");
  assert.equal(kindOf(undefined, [{ a: 1 }]), "json");
  assert.equal(kindOf(undefined, [null]), "text");
});

test("numbers_have_the_reader_s_separators_and_ids_and_years_have_none", () => {
  const text = (value, name = "n") => cellText(value, { kind: "number", id: isId(name) }, NOW).text;
  assert.deepEqual([text(1234567), text("1234567.50"), text(1965), text(-12000)], ["1,234,567", "1,234,567.50", "1965", "-12,000"]);
  assert.equal(text("123456789012345678901234567890"), "123,456,789,012,345,678,901,234,567,890", "no digit is lost");
  assert.deepEqual([text(1234567, "id"), text(1234567, "order_id"), text(1234567, "userId")], ["1234567", "1234567", "1234567"]);
  assert.equal(text("NaN"), "NaN");
});

test("times_are_the_reader_s_and_the_exact_text_is_kept", () => {
  const cell = (value, kind = "stamp") => cellText(value, { kind }, NOW);
  assert.match(cell("2026-07-01T14:05:11.5+00:00").text, /^Jul 1, 3:05/, "an hour later in Lisbon");
  assert.equal(cell("2026-07-01T14:05:11.5+00:00").exact, "2026-07-01T14:05:11.5+00:00");
  assert.match(cell("2026-07-01 14:05:11").text, /^Jul 1, 2:05/, "without a zone it stays");
  assert.equal(cell("2025-03-02", "date").text, "Mar 2, 2025");
  assert.equal(cell("infinity").text, "infinity");
  assert.equal(timeOf("2026-01-01T00:00:00+05:30"), Date.UTC(2025, 11, 31, 18, 30));
  assert.equal(timeOf("2026-01-01 00:00:00-03"), Date.UTC(2026, 0, 1, 3));
  assert.equal(timeOf("1234"), undefined);
  // The first hundred years are none of the last century.
  assert.equal(new Date(timeOf("0044-03-15T10:00:00Z")).toISOString(), "0044-03-15T10:00:00.000Z");
  assert.equal(new Date(timeOf("0099-01-01")).getFullYear(), 99);
  assert.ok(timeOf("0001-01-01 10:00:00") < timeOf("0044-03-15T10:00:00Z"));
  assert.deepEqual([cell("0044-03-15 10:00:00").text, cell("0099-01-01", "date").text], ["0044-03-15 10:00:00", "0099-01-01"]);
  assert.deepEqual([cell("1044-03-15 BC", "date").text, cell("12026-01-01", "date").text], ["1044-03-15 BC", "12026-01-01"]);
  assert.deepEqual([cell(null).text, cell(undefined).none], ["–", true]);
});

test("the_hour_has_one_form_in_short_and_in_full", () => {
  const at = "2026-07-01T08:05:00Z";
  const hour = /\b9:05\sAM$/u;
  for (const text of [timeOfDay(at), shortTime(at, NOW), clockTime(at, NOW), localTime(at)]) assert.match(text, hour);
});

test("rows_sort_by_what_they_are_with_what_is_empty_last_either_way", () => {
  const of = (type, values) => table([["a", type]], values.map((value) => [value]));
  const sorted = (type, values, down = false) => sortedRows(of(type, values), 0, down).map((index) => values[index]);
  assert.deepEqual(sorted("int8", [10, null, 9, "100"]), [9, 10, "100", null]);
  assert.deepEqual(sorted("int8", [10, null, 9, "100"], true), ["100", 10, 9, null]);
  assert.deepEqual(sorted("text", ["b10", "B9", "a", null]), ["a", "B9", "b10", null]);
  assert.deepEqual(sorted("timestamptz", ["2026-01-01T00:00:00+02:00", "2025-12-31T23:00:00+00:00"]), ["2026-01-01T00:00:00+02:00", "2025-12-31T23:00:00+00:00"]);
  const spans = ["2 days", "10 days", "-1 years", "1 mon", "00:00:01", "1 year 2 mons", "-3 days +04:05:06", "-00:00:01", null, "infinity"];
  assert.deepEqual(sorted("interval", spans), ["-1 years", "-3 days +04:05:06", "-00:00:01", "00:00:01", "2 days", "10 days", "1 mon", "1 year 2 mons", "infinity", null]);
  const days = ["infinity", "2026-01-01", "0044-03-15 BC", "0100-01-01 BC", "-infinity", "10000-01-01", "0001-01-01"];
  const inOrder = ["-infinity", "0100-01-01 BC", "0044-03-15 BC", "0001-01-01", "2026-01-01", "10000-01-01", "infinity"];
  assert.deepEqual(sorted("date", days), inOrder);
  assert.deepEqual(sorted("date", days, true), inOrder.toReversed());
  assert.deepEqual(sorted("timestamp", ["0044-03-15T10:00:00 BC", "0044-03-15T09:00:00 BC"]), ["0044-03-15T09:00:00 BC", "0044-03-15T10:00:00 BC"]);
  const equal = table([["a", "int4"], ["b", "text"]], [[1, "x"], [1, "y"], [0, "z"]]);
  assert.deepEqual(sortedRows(equal, 0, true), [0, 1, 2], "equal ones stay in their order");
});

test("csv_and_markdown_hold_what_is_there_and_no_formula", () => {
  const all = table([["a", "text"], ["n", "int4"], ["j", "jsonb"]], [["x, \"y\"\nz", 1, { k: [1] }], ["=1+1", null, null], ["a|b\\", -5, null], ["@SUM(A1)", 2, null], ["-3 apples", 2, null]]);
  assert.equal(csvOf(all), 'a,n,j\r\n"x, ""y""\nz",1,"{""k"":[1]}"\r\n\'=1+1,,\r\na|b\\,-5,\r\n\'@SUM(A1),2,\r\n\'-3 apples,2,\r\n');
  assert.equal(markdownOf(table([["a|b", "text"], ["n", "int4"]], [["x|y\nz", 1]])), "| a\\|b | n |\n| --- | --: |\n| x\\|y z | 1 |\n");
});

test("only_a_plain_number_begins_with_a_sign_in_csv_and_no_name_of_a_column_is_a_formula", () => {
  const lines = (column, cells) => csvOf(table([[column, "text"]], cells.map((cell) => [cell]))).split("\r\n").slice(0, -1);
  const numbers = ["-2", "+3.50", "-1.5e-7", -4, "7"];
  assert.deepEqual(lines("n", numbers), ["n", ...numbers.map(String)]);
  const formulas = ["-2+3+cmd|' /C calc'!A0", "+1-1", "-2.", "-1 2", "=1", "@a", "\n=1", " =1"];
  for (const line of lines("n", formulas).slice(1)) assert.match(line, /^"?'/, line);
  assert.equal(lines("=HYPERLINK(A1)", ["x"])[0], "'=HYPERLINK(A1)");
  assert.equal(lines("-2+3", ["x"])[0], "'-2+3");
});

test("a_chart_needs_a_number_that_meets_a_date_or_a_label_and_no_ids", () => {
  const names = (found) => found && [found.xs, found.ys].map((columns) => columns.map(({ name }) => name));
  const of = (columns, rows) => names(chartable(table(columns, rows)));
  assert.deepEqual(of([["day", "date"], ["n", "int8"]], [["2026-01-01", 1], ["2026-01-02", 2]]), [["day"], ["n"]]);
  assert.deepEqual(of([["who", "text"], ["n", "int8"], ["id", "int8"]], [["a", 1, 1], ["b", 2, 2]]), [["who"], ["n"]]);
  assert.equal(of([["id", "int8"], ["name", "text"]], [[1, "a"], [2, "b"]]), undefined, "an id is no measure");
  assert.equal(of([["user_id", "text"], ["n", "int8"]], [["a", 1], ["b", 2]]), undefined, "and no label");
  assert.equal(of([["n", "int8"], ["m", "int8"]], [[1, 1], [2, 2]]), undefined);
  assert.equal(of([["day", "date"], ["n", "int8"]], [["2026-01-01", 1]]), undefined, "one row is no chart");
  assert.equal(of([["who", "text"], ["n", "int8"]], Array.from({ length: 31 }, (_, at) => [`w${at}`, at])), undefined, "too many bars");
  assert.equal(of([["day", "date"], ["n", "int8"]], Array.from({ length: 5001 }, () => ["2026-01-01", 1])), undefined, "too many points");
  assert.equal(of([["day", "date"], ["n", "int8"]], [["2026-01-01", 1], [null, 2]]), undefined, "a date that is not there has no place");
});

test("a_line_runs_from_the_past_and_what_is_empty_is_a_gap", () => {
  const dates = table([["day", "date"], ["n", "numeric"]], [["2026-01-02", "2.5"], ["2026-01-01", null]]);
  const line = chartOf(dates, 0, [1], NOW);
  assert.deepEqual([line.kind, line.series[0].values], ["line", [null, 2.5]]);
  assert.equal(line.x[1] - line.x[0], 86_400);
  const bars = chartOf(table([["who", "text"], ["n", "int8"], ["m", "int8"]], [["b", 1, 3], [null, 2, 4]]), 0, [1, 2], NOW);
  assert.deepEqual([bars.kind, bars.labels, bars.x], ["bars", ["b", "–"], [0, 1]]);
  assert.deepEqual(bars.series, [{ name: "n", values: [1, 2] }, { name: "m", values: [3, 4] }]);
});

test("what_is_shown_of_how_many_is_known", () => {
  assert.equal(table([["a", "text"]], [["x"]], 300).total, 300);
  assert.equal(table([["a", "text"]], [["x"]], undefined).total, 1);
});

const file = (name, text, type = "") => new File([text], name, { type });

test("a_text_file_goes_into_the_message_and_comes_out_again", async () => {
  assert.deepEqual([{ name: "a.csv" }, { name: "x", type: "text/plain" }, { name: "a.json" }, { name: "a.png", type: "image/png" }, { name: "a.exe" }].map(isTextFile), [true, true, true, false, false]);
  const { files, problems } = await readTextFiles([file("books.csv", "id,title\r\n1,Dune\r\n"), file("b.bin", new Uint8Array([0xff, 0xfe, 0])), file("big.txt", "x".repeat(1_048_577))]);
  assert.deepEqual(files, [{ name: "books.csv", text: "id,title\n1,Dune" }], "as many lines as after it is sent");
  assert.match(problems.join("\n"), /b\.bin is not text in UTF-8[^]*big\.txt is too large: text files of at most 1024 KB/);
  const said = withFiles("Look", files);
  assert.deepEqual(partsOf(said), [{ text: "Look" }, { name: "books.csv", text: "id,title\n1,Dune" }]);
  assert.deepEqual(partsOf(withFiles("", files)), [{ name: "books.csv", text: "id,title\n1,Dune" }]);
});

test("files_of_a_mebibyte_go_into_one_message_with_words_beside_them", async () => {
  const { files, problems } = await readTextFiles([file("a.csv", "a,b\n".repeat(262_143)), file("b.txt", "```\n"), file("c.txt", "1")]);
  assert.deepEqual([files.map(({ name }) => name), problems.length], [["a.csv", "b.txt"], 1], "together, and no more");
  const said = withFiles("x".repeat(60 * 1024), files);
  assert.equal(refusal(said), undefined);
  assert.deepEqual(partsOf(said).slice(1).map(({ name, text }) => text === files.find((each) => each.name === name).text), [true, true]);
  const fences = "```\n".repeat(262_144);
  assert.equal(partsOf(withFiles("", [{ name: "d.md", text: fences }]))[0].text, fences, "as many fences as there can be");
});

test("no_file_ends_its_block_before_its_end", async () => {
  const hostile = '```\nfile "x"\n````\n\n```file "evil.txt"\nno\n```';
  const { files } = await readTextFiles([file('a"`\n b.txt', hostile)]);
  assert.equal(files[0].name, "a b.txt");
  assert.deepEqual(partsOf(withFiles("Look", files)), [{ text: "Look" }, { name: "a b.txt", text: hostile }]);
  assert.deepEqual(partsOf("no file here ```file"), [{ text: "no file here ```file" }]);
  assert.deepEqual(partsOf(""), [{ text: "" }]);
});

test("a_link_whose_text_names_another_host_is_known", () => {
  const to = (text, href = "https://evil.example.org/x") => namedElsewhere(text, href);
  assert.equal(to("example.com"), "evil.example.org");
  assert.equal(to("https://example.com/login?a=b"), "evil.example.org");
  assert.equal(to(" www.example.com "), "evil.example.org");
  assert.equal(to("пример.com"), "evil.example.org");
  assert.equal(to("evil.example.org"), undefined);
  assert.equal(to("WWW.Evil.example.org/else"), undefined);
  assert.equal(to("the docs"), undefined);
  assert.equal(to("a@example.com", "mailto:b@example.org"), undefined);
  assert.equal(to("münchen.de", "https://xn--mnchen-3ya.de/"), undefined);
});

test("a_host_is_found_wherever_a_text_of_a_link_names_one", () => {
  const to = (text, href = "https://evil.example.org/x") => namedElsewhere(text, href);
  for (const text of [
    "Open bank.com",
    "see example.com for more",
    "bank\u200b.com",
    "ba\u00adnk.\u2060com",
    "https://bank.com.",
    "bank.com.",
    "bank。com",
    "10.0.0.1",
    "Router (10.0.0.1).",
    "http://localhost:8000/x",
    "http://[::1]/",
    "https://bank.com@evil.example.org/x",
    "evil.example.org\\bank.com",
    "evil.example.org, and bank.com",
    "Node.js/bank.com",
    "bank.com.js",
    "main.rs",
  ])
    assert.equal(to(text), "evil.example.org", text);
  for (const text of [
    "https://evil.example.org/a/b/README.md?from=bank.com",
    "See evil.example.org. There it is.",
    "https://evil.example.org:443/x",
    "www.evil.example.org.",
    "Node.js",
    "src/main.js and package.json",
    "version 1.2.3, or 10.0.19041.1",
    "e.g. this, at 3.5mm",
    "",
    undefined,
  ])
    assert.equal(to(text), undefined, text);
  assert.equal(to("10.0.0.1", "http://10.0.0.1:8000/x"), undefined);
  assert.equal(to("bank.com", "https://bank.com@evil.example.org/"), "evil.example.org");
  assert.equal(to("bank.com", "https://www.bank.com./"), undefined);
});

test("suggestions_follow_what_there_is", () => {
  const hello = { model: { kind: "local" } };
  assert.equal(suggestionsOf(hello, true).length, 3);
  assert.deepEqual(suggestionsOf(hello, false), []);
  const some = suggestionsOf(hello, true, { capabilities: [{ name: "old", updated_at: "2026-01-01T00:00:00Z" }, { name: "new", updated_at: "2026-02-01T00:00:00Z" }, { name: "off", enabled: false, updated_at: "2026-03-01T00:00:00Z" }], tasks: [{ id: 1 }] });
  assert.match(some[0], /^What does new do/);
  assert.match(some[2], /1 open task/);
  assert.notDeepEqual(some, suggestionsOf(hello, true));
  assert.ok(suggestionsOf({ model: { kind: "tour" } }, false).length > 3, "the tour understands little else");
});

test("the_figures_beside_a_chart_are_the_multiples_of_their_step_in_a_short_form", () => {
  const beside = (step, count) => figuresBeside(Array.from({ length: count }, (_, index) => index).reduce((all) => [...all, (all.at(-1) ?? -5 * step) + step], [-5 * step]), step);
  assert.deepEqual(figuresBeside([-70_368_744_177_664, -2.0000000000000005e29, -9.999999999999999e29], 2e29), ["0", "-2e29", "-1e30"]);
  assert.deepEqual(beside(0.1, 7), ["-0.5", "-0.4", "-0.3", "-0.2", "-0.1", "0", "0.1", "0.2"]);
  assert.deepEqual(figuresBeside([0, 50_000_000_000_000], 5e13), ["0", "50,000,000,000,000"]);
  assert.deepEqual(figuresBeside([0, 1e-9], 1e-9), ["0", "1e-9"]);
});
