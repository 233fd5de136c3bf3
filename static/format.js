// How tool calls, results and approvals are put into words and tables. Pure functions; nothing here touches the DOM.

import { localTime } from "./times.js";

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

const CHANNEL_WORDS = {
  page: "on the page",
  api: "over the command line or the API",
  words: "by a word in the conversation",
  instead: "by saying something else",
};

/** What a message in the conversation does to the approval that waits there, as the server says; nothing if it does not say. */
export function decidingWords(words) {
  const { approve = [], deny = [], others_decline: othersDecline } = words ?? {};
  if (approve.length === 0) return "";
  const plain = approve.length > 2 ? "" : " A plain yes does not count here.";
  const others = othersDecline ? " Anything else you say here declines it, and the assistant hears it at once." : "";
  return `Said alone in this conversation, ${anyOf(approve)} approves, ${anyOf(deny)} refuses.${plain}${others}`;
}

function anyOf(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

/** The line that stands in the place of an approval once it is decided; `row` as `view.js` makes it. */
export function decisionLine({ state, channel, decidedAt }) {
  const when = decidedAt ? `, ${localTime(decidedAt)}` : "";
  const how = CHANNEL_WORDS[channel] ? ` ${CHANNEL_WORDS[channel]}` : "";
  switch (state) {
    case "approved":
      return `You approved this${how}${when}`;
    case "denied":
      return `You denied this${how}${when}`;
    case "expired":
      return `Nobody answered in time, so this was refused${when}`;
    case "void":
      return `This approval no longer counts${when}`;
    default:
      return `This approval is ${state}${when}`;
  }
}

/** The powers among `grants` that reach furthest, in a word or two each; the sentences beside them say how far exactly. */
export function grantMarks(grants) {
  if (grants === null || typeof grants !== "object") return [];
  const marks = [];
  if (Object.hasOwn(grants, "http")) marks.push(hostsOf(grants.http).some(isWide) ? "Network: many hosts" : "Network");
  if (Object.hasOwn(grants, "secrets")) marks.push("Your secrets");
  if (grants.sql?.access === "write") marks.push("Changes tables");
  else if (Object.hasOwn(grants, "sql")) marks.push("Reads the database");
  if (Object.hasOwn(grants, "tools")) marks.push("Calls other tools");
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
      return oneLine([method, url, bytes > 0 && `(${bytes} bytes)`].filter(Boolean).join(" "), 200);
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

/** A count for a narrow column: 950, 34.1k, 2.2M. */
export function compactNumber(number) {
  if (number < 1000) return String(number);
  const [size, sign] = number < 999_500 ? [1000, "k"] : [1_000_000, "M"];
  return `${(number / size).toFixed(number / size < 99.95 ? 1 : 0)}${sign}`;
}

/** Millionths of a dollar as dollars; `null` is not zero but unknown. */
export function costText(micros) {
  if (micros === null || micros === undefined) return "unknown";
  if (micros === 0) return "$0";
  const dollars = micros / 1_000_000;
  return dollars < 0.0001 ? "< $0.0001" : `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
}

/** A day (`2026-11-20`) as a person reads it; it is a name, so no time zone moves it. */
export function dayText(day) {
  const at = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return String(day);
  return at.toLocaleDateString(undefined, { dateStyle: "medium", timeZone: "UTC" });
}
