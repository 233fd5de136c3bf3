// Rows of a query in words: what kind each column is, how a cell reads, how columns sort, and the
// rows as CSV and Markdown. Pure.

import { isPlain } from "../core/json.js";
import { shortDay, shortTime } from "../core/times.js";
import { locale } from "../core/words.js";

const NUMBERS = /^(int(?!erval)|smallint|bigint|serial|float|double|real|numeric|decimal|money)/;
const STAMP = /^(\d{4,6})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?( BC)?$/;

/** True for a number, and for one that keeps its digits. */
const isNumber = (value) => typeof value === "number" || (typeof value === "object" && isPlain(value));

/** The kind of a column: `number`, `date`, `stamp`, `bool`, `json` or `text`, by its type, or without one by what is in it. */
export function kindOf(type, values) {
  if (type) {
    const name = type.toLowerCase();
    if (NUMBERS.test(name) && !name.endsWith("[]")) return "number";
    if (name === "date") return "date";
    if (name.startsWith("timestamp")) return "stamp";
    if (name.startsWith("bool")) return "bool";
    return name.startsWith("json") ? "json" : "text";
  }
  const there = values.filter((value) => value !== null && value !== undefined);
  if (there.length === 0) return "text";
  if (there.every(isNumber)) return "number";
  if (there.every((value) => typeof value === "boolean")) return "bool";
  if (there.every((value) => typeof value === "string" && STAMP.test(value)))
    return there.every((value) => value.length === 10) ? "date" : "stamp";
  return there.every(isPlain) ? "text" : "json";
}

/** True for the name of a column that counts nothing: its numbers name things. */
export function isId(name, type = "") {
  return type === "uuid" || /^id$|_id$|Id$|^(oid|uuid|key|code|zip|phone)$/.test(name);
}

/** `{ columns: [{ name, type, kind, id }], rows, total }` of `{ columns, rows, total }`. */
export function readTable({ columns, rows, total }) {
  const kinds = columns.map(({ name, type }, index) => ({
    name,
    type: type ?? "",
    kind: kindOf(type, rows.map((row) => row[index])),
    id: isId(name, type),
  }));
  return { columns: kinds, rows, total: Math.max(total ?? rows.length, rows.length) };
}

/** A date or a time as milliseconds; without a zone it is meant where the reader is. `undefined` for what is none. */
export function timeOf(text) {
  const found = STAMP.exec(String(text ?? ""));
  if (!found) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", zone, before] = found;
  // The year before the first one of our era is year 0.
  const counted = before ? 1 - Number(year) : Number(year);
  const [date, time] = [[counted, Number(month) - 1, Number(day)], [Number(hour), Number(minute), Math.floor(Number(second)), 0]];
  // Not `Date.UTC` and the like: they take the first hundred years for those of the last century.
  const at = new Date(2000, 0);
  if (zone === undefined) return (at.setFullYear(...date), at.setHours(...time));
  const sign = zone.startsWith("-") ? 1 : -1;
  const [hours, minutes] = zone === "Z" ? [0, 0] : [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(":", "") || 0)];
  at.setUTCFullYear(...date);
  return at.setUTCHours(...time) + sign * (hours * 60 + minutes) * 60_000;
}

/** The text of a value as it is copied. */
export function exactText(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** How a cell reads: `{ text, exact, none }`; `exact` where the text says it in other words. `now` is in milliseconds. */
export function cellText(value, { kind, id }, now) {
  if (value === null || value === undefined) return { text: "–", none: true };
  const exact = exactText(value);
  if (kind === "number") return { text: id ? exact : numberText(exact), exact };
  if (kind === "date" || kind === "stamp") return stampText(exact, kind, now);
  return { text: exact };
}

const digits = new Map();

/** With the reader's separators, all digits as they were; four digits stay together, as in a year. */
function numberText(exact) {
  if (!/^-?\d+(\.\d+)?$/.test(exact)) return exact;
  const places = exact.split(".")[1]?.length ?? 0;
  if (places > 20) return exact;
  if (!digits.has(places))
    digits.set(places, new Intl.NumberFormat(locale, { useGrouping: "min2", minimumFractionDigits: places, maximumFractionDigits: places }));
  return digits.get(places).format(exact);
}

/** "22 Nov, 14:05", with the year if it is another than now. A year that has not four digits, or is of another era, stands as it is. */
function stampText(exact, kind, now) {
  const at = timeOf(exact);
  if (at === undefined || Number.isNaN(at) || !/^[1-9]\d{3}-[^B]*$/.test(exact)) return { text: exact };
  return { text: kind === "date" || exact.length === 10 ? shortDay(at, now) : shortTime(at, now), exact };
}

/** A date or a time in the order of Postgres, which knows the ends of time. */
function momentOf(text) {
  if (text === "-infinity") return -Infinity;
  // One that is no time here is later than all that are.
  const at = timeOf(text);
  return at === undefined || Number.isNaN(at) ? Infinity : at;
}

/** The days of a part of an interval, as Postgres compares them. */
const DAYS = { year: 360, mon: 30, day: 1 };
const DAY_SECONDS = 86_400;

/** The length of an interval in seconds, from Postgres' own words: "1 year 2 mons -3 days +04:05:06". */
function lengthOf(text) {
  if (text.endsWith("infinity")) return momentOf(text);
  const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-]?)(\d+):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text) ?? [];
  const time = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const parts = text.matchAll(/([+-]?\d+) (year|mon|day)s?/g);
  return [...parts].reduce((sum, [, number, unit]) => sum + Number(number) * DAYS[unit] * DAY_SECONDS, sign === "-" ? -time : time);
}

/** The number by which values of these columns are sorted. */
const PLACES = { date: momentOf, stamp: momentOf, interval: lengthOf };

const words = new Intl.Collator(locale, { numeric: true, sensitivity: "base" });

/** Row numbers sorted by a column; what is empty stands last either way, and equal ones stay in their order. */
export function sortedRows({ columns, rows }, column, descending) {
  const { kind, type } = columns[column];
  const value = (row) => row[column];
  const place = PLACES[kind] ?? PLACES[type];
  const compare = (a, b) => {
    if (kind === "number") return Number(a) - Number(b) || words.compare(String(a), String(b));
    // A difference of two ends of time is no number.
    if (place) return Math.sign(place(String(a)) - place(String(b))) || 0;
    return words.compare(exactText(a), exactText(b));
  };
  const order = rows.map((_, index) => index);
  return order.sort((a, b) => {
    const [left, right] = [value(rows[a]), value(rows[b])];
    const [noLeft, noRight] = [left === null || left === undefined, right === null || right === undefined];
    if (noLeft || noRight) return Number(noLeft) - Number(noRight) || a - b;
    return (descending ? compare(right, left) : compare(left, right)) || a - b;
  });
}

/** A number and nothing else: with a sign before it, it is no formula. */
const PLAIN_NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** CSV as RFC 4180 has it. A text that a spreadsheet would take for a formula gets an apostrophe, also the name of a column. */
export function csvOf({ columns, rows }) {
  const quoted = (text) => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const cell = (value) => {
    const text = exactText(value);
    return quoted(/^\s*[=+\-@]|^[\t\r]/.test(text) && !PLAIN_NUMBER.test(text) ? `'${text}` : text);
  };
  const lines = [columns.map(({ name }) => name), ...rows].map((row) => row.map(cell));
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/** A table in Markdown; numbers stand at the right. */
export function markdownOf({ columns, rows }) {
  const safe = (text) => text.replaceAll("\\", "\\\\").replaceAll("|", "\\|").replace(/\r?\n/g, " ");
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  const head = line(columns.map(({ name }) => safe(name)));
  const rule = line(columns.map(({ kind }) => (kind === "number" ? "--:" : "---")));
  return head + rule + rows.map((row) => line(row.map((value) => safe(exactText(value))))).join("");
}
