// Figures about calls in words, and what of a result is rows. Pure.

import { isPlain, readJson } from "../core/json.js";
import { decimal } from "../core/numbers.js";

/** A time that something took. */
export function tookText(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${decimal(ms / 1000, 1)} s` : `${Math.round(ms / 60_000)} min`;
}

/** The points of a small line through `days`, in a box of `width` and `height`; nothing if there was no call. */
export function linePoints(days, width, height) {
  const most = Math.max(...days);
  if (days.length < 2 || most <= 0) return "";
  const at = (value, index) => `${round((index * width) / (days.length - 1))},${round(height - (value / most) * height)}`;
  return days.map(at).join(" ");
}

const round = (number) => Math.round(number * 10) / 10;
const isRecord = (value) => !isPlain(value) && !Array.isArray(value);

/**
 * How the result of a call is shown, from its text: `rows` (`{ columns, rows, total }`), `facts` (names with their values), `json` or `text`.
 * `frame` may say what the columns are.
 */
export function shapeOf({ result = "", columns, total }) {
  let value;
  try {
    value = readJson(result);
  } catch {
    return { kind: "text", text: result };
  }
  // Fields beside the rows would be lost in a table.
  const rows = isRecord(value) && (columns || Object.keys(value).length === 1) ? value.rows : undefined;
  const records = [value, rows].find(Array.isArray) ?? [];
  if (records.length > 0 && records.every(isRecord)) {
    const names = columns?.map(({ name }) => name) ?? [...new Set(records.flatMap((record) => Object.keys(record)))];
    const rows = records.map((record) => names.map((name) => (Object.hasOwn(record, name) ? record[name] : null)));
    return { kind: "rows", table: { columns: columns ?? names.map((name) => ({ name })), rows, total: total ?? rows.length } };
  }
  if (isPlain(value)) return { kind: "text", text: typeof value === "string" ? value : result };
  const entries = isRecord(value) ? Object.entries(value) : [];
  if (entries.length > 0 && entries.length <= 12 && entries.every(([, each]) => isPlain(each))) return { kind: "facts", entries };
  return { kind: "json", text: JSON.stringify(value, null, 2) };
}

/** The files of a folder that a person chose (`{ name, text }`), as `POST /api/capabilities/import` takes them; throws a word for what is wrong. */
export function folderOf(files) {
  const named = Object.fromEntries(files.map(({ name, text }) => [name, text]));
  if ("capability.json" in named) return named;
  if (files.length !== 1 || !files[0].name.endsWith(".json")) throw new Error("noFolder");
  let whole;
  try {
    whole = JSON.parse(files[0].text);
  } catch {
    throw new Error("noJson");
  }
  // Export wrote the whole folder in one file.
  if (!isRecord(whole) || !("capability.json" in whole)) throw new Error("noFolder");
  return whole;
}
