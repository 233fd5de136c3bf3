// How tool calls, results and approvals are put into words and tables. Pure functions; nothing here
// touches the DOM.

import { isPlain, readJson } from "./json.js";
import { oneLine } from "./text.js";
import { shortDay, shortTime } from "./times.js";
import { words } from "./words.js";

const MAX_COLUMNS = 12;

const CODE_FIELDS = { query: "sql", sql: "sql", code: "javascript", source: "javascript" };

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
        [args.action, args.id && `#${args.id}`, args.title, args.status, args.due_at && words.calls.due(shortTime(args.due_at))]
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

/**
 * The arguments in parts to show: code as code, lines of text as text, everything else together as JSON. A part that is no argument by itself has
 * a `kind`: `all` or `others`.
 */
export function argumentParts(args) {
  if (args === undefined || args === null) return [];
  if (typeof args === "string") return [{ label: words.calls.broken, kind: "all", text: args, language: "" }];
  if (typeof args !== "object" || Array.isArray(args)) return [jsonPart("all", args)];
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
  if (Object.keys(rest).length > 0) parts.push(jsonPart(parts.length > 0 ? "others" : "all", rest));
  return parts;
}

function codeLanguage(key, args) {
  const said = typeof args.language === "string" ? args.language.toLowerCase() : "";
  return said === "wat" ? "" : CODE_FIELDS[key];
}

function jsonPart(kind, value) {
  return { label: words.calls[kind], kind, text: JSON.stringify(value, null, 2), language: "json" };
}

/** The arguments to be read: `parts` as above, but `fields` (`[[name, value]]`) in place of the JSON. */
export function argumentView(args) {
  const parts = argumentParts(args);
  const last = parts.at(-1);
  if (last?.language !== "json" || Array.isArray(args)) return { parts, fields: [] };
  return { parts: parts.slice(0, -1), fields: Object.entries(readJson(last.text)).flatMap(([name, value]) => fieldsOf(name, value)) };
}

/** So many rows for one argument, and so deep; beyond them it stands as JSON. */
const MAX_FIELDS = 40;
const DEEPEST = 5;

/** The rows of an argument, one for each plain value in it, named by the way there: `place › city`, `steps › 1`. */
function fieldsOf(name, value) {
  const rows = plainFields(name, value, MAX_FIELDS, DEEPEST);
  return rows.length <= MAX_FIELDS ? rows : [[name, JSON.stringify(value)]];
}

function plainFields(name, value, room, depth) {
  // The text “null” is no null, and an empty list is no missing one.
  if (value === null) return [[name, "–"]];
  if (isPlain(value) || depth === 0) return [[name, typeof value === "string" ? value : JSON.stringify(value)]];
  const inside = Array.isArray(value) ? value.map((each, index) => [index + 1, each]) : Object.entries(value);
  if (inside.length === 0) return [[name, JSON.stringify(value)]];
  const rows = [];
  for (const [key, each] of inside) {
    // One more than there is room for is enough to know that it is too much.
    if (rows.length > room) break;
    rows.push(...plainFields(`${name} › ${key}`, each, room - rows.length, depth - 1));
  }
  return rows;
}

/**
 * How a result is shown: `table` (`{ columns: [{ name, type }], rows, total }`), `fields` (`[[name, value]]`), `several` (`views`), `json` or
 * `text`. `columns` and `total` are what the frame says of the rows; without `columns` they are read from the rows.
 */
export function resultView(text, told = {}) {
  const value = parseJson(text);
  if (value === undefined) return { kind: "text", text };
  const { results } = value ?? {};
  // A note beside the results is for the model.
  if (Array.isArray(results) && results.length === 1) return viewOf(results[0], told);
  if (Array.isArray(results) && results.length > 1) return { kind: "several", views: results.map((each) => viewOf(each, {})) };
  return viewOf(value, told, text);
}

function viewOf(value, { columns, total }, text = String(value)) {
  // Fields beside the rows would be lost in a table, unless the frame says what the rows are.
  const rows = columns || Object.keys(value ?? {}).length === 1 ? value?.rows : undefined;
  const records = [value, rows].find(Array.isArray);
  if (records && (columns?.length > 0 || isTable(records))) return { kind: "table", ...tableOf(records, columns, total) };
  if (typeof value === "string") return { kind: "text", text: value };
  if (isPlain(value)) return { kind: "text", text };
  const fields = Array.isArray(value) ? [] : Object.entries(value);
  if (fields.length > 0 && fields.length <= MAX_COLUMNS && fields.every(([, each]) => isPlain(each)))
    return { kind: "fields", fields: fields.map(([name, each]) => [name, String(each ?? "–")]) };
  return { kind: "json", text: JSON.stringify(value, null, 2) };
}

function parseJson(text) {
  if (!/^\s*[[{"]/.test(text)) return undefined;
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

function isTable(value) {
  if (!value.every((row) => !isPlain(row) && !Array.isArray(row))) return false;
  const columns = columnsOf(value);
  return columns.length > 0 && columns.length <= MAX_COLUMNS;
}

function columnsOf(records) {
  return [...new Set(records.flatMap((record) => Object.keys(record)))];
}

function tableOf(records, columns, total) {
  const all = columns ?? columnsOf(records).map((name) => ({ name }));
  const own = (record, name) => (record && Object.hasOwn(record, name) ? record[name] : null);
  return { columns: all, rows: records.map((record) => all.map(({ name }) => own(record, name))), total: total ?? records.length };
}

/** The line that stands in the place of an approval once it is decided; `row` as `view.js` makes it. */
export function decisionLine({ state, channel, decidedAt }) {
  const when = decidedAt ? `, ${shortTime(decidedAt)}` : "";
  const { channels } = words.law;
  const how = Object.hasOwn(channels, channel ?? "") ? ` ${channels[channel]}` : "";
  const said = { approved: `${words.law.approved}${how}`, denied: `${words.law.denied}${how}`, expired: words.law.expired, void: words.law.void };
  return `${Object.hasOwn(said, state) ? said[state] : words.law.other(state)}${when}`;
}

/** The powers among `grants` that reach furthest, in a word or two each; the sentences beside them say how far exactly. */
export function grantMarks(grants) {
  if (grants === null || typeof grants !== "object") return [];
  const said = words.law.marks;
  const marks = [];
  if (Object.hasOwn(grants, "http")) marks.push(hostsOf(grants.http).some(isWide) ? said.wide : said.http);
  if (Object.hasOwn(grants, "secrets")) marks.push(said.secrets);
  if (grants.sql?.access === "write") marks.push(said.write);
  else if (Object.hasOwn(grants, "sql")) marks.push(said.read);
  if (Object.hasOwn(grants, "tools")) marks.push(said.tools);
  return marks;
}

function hostsOf(http) {
  const hosts = Array.isArray(http?.hosts) ? http.hosts : [];
  return hosts.map((entry) => String(typeof entry === "string" ? entry : (entry?.host ?? "")));
}

function isWide(host) {
  return host.includes("*");
}

/** One line that says what an operation asked for; fingerprints are left to the whole request, which stands in the line's title. */
export function operationLine({ power, request }) {
  if (request === null || typeof request !== "object" || Array.isArray(request))
    return oneLine(typeof request === "string" ? request : JSON.stringify(request ?? null), 200);
  const { sha256: _, ...asked } = request;
  switch (power) {
    case "http": {
      const { method, url, bytes } = asked;
      return oneLine([method, url, bytes > 0 && words.calls.bytes(bytes)].filter(Boolean).join(" "), 200);
    }
    case "sql":
      return oneLine(
        [asked.sql, asked.params?.length > 0 && JSON.stringify(asked.params)].filter(Boolean).join(" "),
        200,
      );
    case "tools":
      return oneLine([asked.tool, JSON.stringify(asked.arguments ?? {})].filter(Boolean).join(" "), 200);
    case "mcp":
      return oneLine([asked.server, asked.tool].filter(Boolean).join(" "), 200);
    case "kv":
      if (typeof asked.do === "string") return oneLine(`${asked.do} ${asked.key ?? asked.prefix ?? ""}`, 200);
    // falls through
    default:
      return oneLine(
        Object.entries(asked)
          .map(([key, value]) => `${key} ${typeof value === "string" ? value : JSON.stringify(value)}`)
          .join(", "),
        200,
      );
  }
}

/** A day (`2026-11-20`) as a person reads it; it is a name, so no time zone moves it. */
export function dayText(day) {
  // Every day has a noon, wherever the reader is.
  const at = new Date(`${day}T12:00:00`);
  return Number.isNaN(at.getTime()) ? String(day) : shortDay(at);
}
