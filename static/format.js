// How tool calls, results and times are put into words and tables. Pure functions; nothing here touches the DOM.

/** Text longer than this is shown cut, with a button for the rest. */
export const SHOWN_CHARS = 4000;
/** Tables longer than this are shown cut. */
export const SHOWN_ROWS = 30;
const MAX_COLUMNS = 12;

const CODE_FIELDS = { query: "sql", sql: "sql", code: "javascript", source: "javascript" };

/** `text` on one line, cut after `length` characters. */
export function oneLine(text, length = 140) {
  const line = text
    .slice(0, length * 4)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > length || text.length > length * 4 ? `${line.slice(0, length - 1).trimEnd()}…` : line;
}

/** One line that says what a tool is called with. */
export function summarize(name, args) {
  if (args === undefined || args === null) return "";
  if (typeof args !== "object") return oneLine(String(args));
  switch (name) {
    case "execute_sql":
      if (typeof args.query === "string") return oneLine(args.query);
      break;
    case "manage_tasks":
      return oneLine(
        [args.action, args.id && `#${args.id}`, args.title, args.status, args.due_at && `due ${localTime(args.due_at)}`]
          .filter(Boolean)
          .join(" · "),
      );
    case "write_capability":
      return oneLine([args.name, args.description].filter(Boolean).join(" · "));
    case "restart":
      return oneLine(String(args.mode ?? ""));
  }
  const pairs = Object.entries(args).map(
    ([key, value]) => `${key}: ${typeof value === "string" ? oneLine(value, 60) : JSON.stringify(value)}`,
  );
  return oneLine(pairs.join(", "));
}

/** The arguments in parts to show: code as code, a line of text as text, everything else together as JSON. */
export function argumentParts(args) {
  if (args === undefined || args === null) return [];
  if (typeof args === "string") return [{ label: "arguments (not valid JSON)", text: args, language: "" }];
  if (typeof args !== "object" || Array.isArray(args)) return [jsonPart("arguments", args)];
  const parts = [];
  const rest = {};
  for (const [key, value] of Object.entries(args)) {
    if (typeof value === "string" && Object.hasOwn(CODE_FIELDS, key)) {
      parts.push({ label: key, text: value, language: codeLanguage(key, args) });
    } else if (typeof value === "string" && value.includes("\n")) {
      parts.push({ label: key, text: value, language: "" });
    } else {
      rest[key] = value;
    }
  }
  if (Object.keys(rest).length > 0) parts.push(jsonPart(parts.length > 0 ? "other arguments" : "arguments", rest));
  return parts;
}

function codeLanguage(key, args) {
  const said = typeof args.language === "string" ? args.language.toLowerCase() : "";
  return said === "wat" ? "" : CODE_FIELDS[key];
}

function jsonPart(label, value) {
  return { label, text: JSON.stringify(value, null, 2), language: "json" };
}

/** How a result is shown: `table` (with what stands beside the rows in `rest`), `json` or `text`. */
export function resultView(text) {
  const value = parseJson(text);
  if (value === undefined) return { kind: "text", text };
  if (isTable(value)) return { kind: "table", ...tableOf(value) };
  if (value !== null && typeof value === "object" && !Array.isArray(value) && isTable(value.rows)) {
    const { rows, ...rest } = value;
    return { kind: "table", ...tableOf(rows), rest: Object.keys(rest).length > 0 ? rest : undefined };
  }
  if (typeof value === "string") return { kind: "text", text: value };
  if (value === null || typeof value !== "object") return { kind: "text", text };
  return { kind: "json", text: JSON.stringify(value, null, 2) };
}

function parseJson(text) {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isTable(value) {
  if (!Array.isArray(value) || value.length === 0) return false;
  if (!value.every((row) => row !== null && typeof row === "object" && !Array.isArray(row))) return false;
  const columns = columnsOf(value);
  return columns.length > 0 && columns.length <= MAX_COLUMNS;
}

function columnsOf(records) {
  return [...new Set(records.flatMap((record) => Object.keys(record)))];
}

function tableOf(records) {
  const names = columnsOf(records);
  const rows = records.map((record) =>
    names.map((name) => cellOf(Object.hasOwn(record, name) ? record[name] : undefined)),
  );
  const columns = names.map((name, index) => ({
    name,
    numbers:
      rows.every((row) => row[index].kind !== "string" && row[index].kind !== "json") &&
      rows.some((row) => row[index].kind === "number"),
  }));
  return { columns, rows };
}

function cellOf(value) {
  if (value === undefined) return { text: "", kind: "absent" };
  if (value === null) return { text: "null", kind: "null" };
  if (typeof value === "object") return { text: JSON.stringify(value), kind: "json" };
  return { text: String(value), kind: typeof value };
}

/** The line of a failed call that says what went wrong. */
export function failureLine(result) {
  const value = parseJson(result);
  if (value && typeof value === "object" && !Array.isArray(value)) {
    const place = value.line ? ` (line ${value.line})` : "";
    const said = [value.message, value.error, value.detail].find((part) => typeof part === "string" && part !== "");
    if (said !== undefined) return oneLine(said, 200) + place;
  }
  return oneLine(result, 200);
}

/** A size for people. */
export function sizeOf(characters) {
  if (characters < 10_000) return `${characters} characters`;
  return characters < 1_000_000 ? `${Math.round(characters / 1000)} kB` : `${(characters / 1_000_000).toFixed(1)} MB`;
}

/** An ISO 8601 time as a person reads it, in the local time zone; anything else as it is. */
export function localTime(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime())
    ? String(text)
    : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** When `dueAt` (ISO 8601) is, seen from `now` (milliseconds): `{ text, overdue }`. */
export function dueIn(dueAt, now) {
  const at = Date.parse(dueAt);
  if (Number.isNaN(at)) return { text: String(dueAt), overdue: false };
  const seconds = Math.round((at - now) / 1000);
  const size = Math.abs(seconds);
  const amount =
    size < 60
      ? `${size} s`
      : size < 3600
        ? `${Math.round(size / 60)} min`
        : size < 172_800
          ? `${Math.round(size / 3600)} h`
          : `${Math.round(size / 86_400)} days`;
  return seconds < 0 ? { text: `due ${amount} ago`, overdue: true } : { text: `due in ${amount}`, overdue: false };
}
