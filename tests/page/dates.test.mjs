// Dates, times and numbers of a page in Portuguese in a browser whose own language is English.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { load } from "./load.mjs";

process.env.TZ = "Europe/Lisbon";
const kept = { getItem: () => JSON.stringify({ language: "pt" }) };
for (const [name, value] of [["localStorage", kept], ["navigator", { language: "en-US", languages: ["en-US", "pt-PT"] }]]) Object.defineProperty(globalThis, name, { value, configurable: true });
const { locale } = await load("core/words.js");
const { clockTime, duration, localTime, shortDay, shortTime, timeOfDay } = await load("core/times.js");
const { argumentParts, dayText, operationLine, summarize } = await load("core/format.js");
const { compactNumber, costText, sizeOf } = await load("core/numbers.js");
const { cellText } = await load("ui/table-text.js");
const { timesUnder } = await load("ui/chart-data.js");
const { firstDayOfWeek } = await load("tasks/days.js");

const AT = "2026-12-01T21:05:00Z";
const NOW = Date.parse("2026-11-26T12:00:00Z");
const plain = (text) => text.replace(/[\u00a0\u202f]/g, " ");

test("dates_and_times_are_in_the_language_of_the_page_as_it_is_spoken_where_the_reader_is", () => {
  assert.equal(locale, "pt-PT");
  const said = [localTime(AT), shortTime(AT, NOW), clockTime(AT, NOW), shortDay("2025-12-01T12:00:00Z", NOW), timeOfDay(AT), dayText("2026-12-01")];
  for (const text of said) assert.doesNotMatch(text, /Dec|[AP]M|09:05/, text);
  assert.equal(timeOfDay(AT), "21:05");
  assert.match(shortTime(AT, NOW), /^1\D*(dez|12).*21:05$/);
  assert.equal(firstDayOfWeek(), firstDayOfWeek("pt-PT"), "a week begins as it does there");
});

test("a_time_has_one_form_in_every_place_and_stands_in_full_in_titles_alone", () => {
  const cwd = fileURLToPath(new URL("../../static", import.meta.url));
  for (const file of readdirSync(cwd, { recursive: true }).filter((name) => /\.js$/.test(name) && !/^(vendor|words)|^core.times\.js$/.test(name))) {
    const code = readFileSync(`${cwd}/${file}`, "utf8");
    assert.doesNotMatch(code, /(?<!title: )\blocalTime\(|toLocale(Date|Time)String|dateStyle: "(medium|short)"/, file);
  }
  assert.match(dayText("2025-12-01"), /^1\D*(dez|12)\D*2025$/);
  assert.equal(dayText(new Date().toISOString().slice(0, 10)).includes(String(new Date().getFullYear())), false);
});

test("tables_and_charts_are_in_it_too", () => {
  assert.match(cellText(AT, { kind: "stamp" }, NOW).text, /^1\D*(dez|12).*21:05$/);
  assert.equal(plain(cellText("1234567.5", { kind: "number" }, NOW).text), "1 234 567,5");
  const [first, second, third] = timesUnder([Date.parse(AT), Date.parse(AT) + 3_600_000, Date.parse(AT) + 3 * 3_600_000].map((ms) => ms / 1000), 3600, NOW);
  assert.match(first, /^21:05\n1/);
  assert.equal(second, "22:05", "the day stands where it begins");
  assert.match(third, /^00:05\n2/);
  assert.deepEqual(timesUnder([Date.parse(AT) / 1000], 86_400, NOW), [shortDay(AT, NOW)]);
  assert.match(timesUnder([Date.parse(AT) / 1000 + 7], 5, NOW)[0], /^21:05:07\n/);
});

test("figures_have_the_sign_that_the_language_writes_before_the_places", () => {
  assert.deepEqual([duration(1234), duration(12_000), duration(185_000)], ["1,2 s", "12 s", "3 min 5 s"]);
  assert.deepEqual([compactNumber(34_120), compactNumber(2_200_000), compactNumber(999_400)], ["34,1k", "2,2M", "999k"]);
  assert.deepEqual([costText(3), costText(12_345), costText(1_234_567)], ["< $0,0001", "$0,0123", "$1,23"]);
  assert.equal(sizeOf(2_500_000), "2,5 MB");
});

test("a_call_is_told_in_it_and_an_argument_of_any_name_is_one", () => {
  assert.match(summarize("manage_tasks", { action: "create", due_at: AT }), /^create · vence \S/);
  const labels = (args) => argumentParts(args).map(({ label, kind }) => [label, kind]);
  assert.deepEqual(labels({ n: 1 }), [["argumentos", "all"]]);
  assert.deepEqual(labels({ code: "x", n: 1 }), [["code", undefined], ["outros argumentos", "others"]]);
  assert.deepEqual(labels("{oops"), [["argumentos (JSON inválido)", "all"]]);
  assert.deepEqual(labels({ "other arguments": "a\nb" }), [["other arguments", undefined]], "a name is no kind");
  assert.equal(operationLine({ power: "http", request: { method: "POST", url: "https://a.example/", bytes: 3 } }), "POST https://a.example/ (3 bytes)");
});
