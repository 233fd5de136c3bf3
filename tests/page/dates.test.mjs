// Dates, times and numbers of a page in Portuguese in a browser whose own language is English.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

process.env.TZ = "Europe/Lisbon";
const kept = { getItem: () => JSON.stringify({ language: "pt" }) };
for (const [name, value] of [["localStorage", kept], ["navigator", { language: "en-US", languages: ["en-US", "pt-PT"] }]]) Object.defineProperty(globalThis, name, { value, configurable: true });
const { locale } = await load("core/words.js");
const { clockTime, localTime, shortDay, shortTime, timeOfDay } = await load("core/times.js");
const { dayText } = await load("core/format.js");
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
