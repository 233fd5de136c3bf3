// Reads a JSON Schema of arguments as fields that a person can fill in, and what they filled in as
// arguments. Pure. An argument that is deeper than a list of simple values is one field for JSON;
// the server checks everything again.

import { isLost } from "../core/digits.js";
import { isPlain, readJson } from "../core/json.js";

const SIMPLE = new Set(["string", "integer", "number", "boolean"]);
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

const isObject = (value) => !isPlain(value) && !Array.isArray(value);

/**
 * The fields of a schema: `{ name, kind, title, help, required, … }`, with `kind` one of `text`, `number`, `flag`, `choice`, `list` and
 * `json`. A schema that names no parameters at all gives one field without a name: the arguments as JSON.
 */
export function fieldsOf(schema) {
  const known = isObject(schema) ? schema : {};
  if (!isObject(known.properties)) return [{ name: null, kind: "json", title: "", help: "", required: false, shape: "object" }];
  const required = new Set(Array.isArray(known.required) ? known.required : []);
  return Object.entries(known.properties).map(([name, each]) => fieldOf(name, isObject(each) ? each : {}, required.has(name)));
}

function fieldOf(name, schema, required) {
  const { title, description, default: fallback } = schema;
  const text = (value, other) => (typeof value === "string" ? value : other);
  const field = { name, title: text(title, name ?? ""), help: text(description, ""), required, fallback };
  if (Array.isArray(schema.enum)) return { ...field, kind: "choice", options: schema.enum };
  if ("const" in schema) return { ...field, kind: "choice", options: [schema.const] };
  const type = typeOf(schema);
  if (type === "array" && isSimple(schema.items)) {
    const { minItems: min = 0, maxItems: max } = schema;
    return { ...field, kind: "list", item: fieldOf(null, schema.items, true), min, max };
  }
  if (type === "boolean") return { ...field, kind: "flag" };
  if (type === "integer" || type === "number") return { ...field, kind: "number", whole: type === "integer", ...boundsOf(schema) };
  if (type === "string") {
    const { minLength: min, maxLength: max, pattern, format } = schema;
    return { ...field, kind: "text", min, max, pattern: text(pattern), format: text(format) };
  }
  return { ...field, kind: "json", shape: type };
}

/** The one type of a schema; nothing if there are several, or if it is put together of others. */
function typeOf(schema) {
  if (["oneOf", "anyOf", "allOf", "$ref", "not"].some((word) => word in schema)) return undefined;
  const types = [schema.type].flat().filter((type) => type !== "null");
  return types.length === 1 ? types[0] : undefined;
}

const isSimple = (schema) => isObject(schema) && (Array.isArray(schema.enum) || SIMPLE.has(typeOf(schema)));

function boundsOf({ minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below }) {
  return { min: minimum, max: maximum, above: typeof above === "number" ? above : undefined, below: typeof below === "number" ? below : undefined };
}

/** The content of a field before a person touches it: a text, or a list of texts. */
export function rawOf(field, value = field.fallback) {
  if (field.kind === "list") return Array.isArray(value) ? value.map((each) => rawOf(field.item, each)) : [];
  if (field.kind === "choice") {
    const at = value === undefined ? (field.required && field.options.length === 1 ? 0 : -1) : field.options.findIndex((each) => JSON.stringify(each) === JSON.stringify(value));
    return at < 0 ? "" : String(at);
  }
  if (value === undefined || value === null) return field.kind === "flag" && field.required ? "false" : "";
  return field.kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

/** The value that was filled in: `{ value }`, nothing at all for a field that is left out, or `{ wrong: [word, …] }`, a name of `words.fields`. */
export function readField(field, raw) {
  if (field.kind === "list") return readList(field, raw);
  if (raw.trim() === "" && field.kind !== "text") return field.required ? { wrong: ["needed"] } : {};
  if (raw === "") return field.required && field.min !== 0 ? { wrong: ["needed"] } : field.required ? { value: "" } : {};
  switch (field.kind) {
    case "flag":
      return { value: raw === "true" };
    case "choice":
      return { value: field.options[Number(raw)] };
    case "number":
      return readNumber(field, raw.trim());
    case "text":
      return readText(field, raw);
    default:
      return readDeep(field, raw);
  }
}

function readNumber({ whole, min, max, above, below }, raw) {
  const value = Number(raw);
  if (!NUMBER.test(raw) || !Number.isFinite(value)) return { wrong: ["number"] };
  if (whole && !Number.isInteger(value)) return { wrong: ["whole"] };
  const digits = digitsOf(raw);
  if (isLost(digits)) return { wrong: ["exact"] };
  if (min !== undefined && value < min) return { wrong: ["atLeast", min] };
  if (max !== undefined && value > max) return { wrong: ["atMost", max] };
  if (above !== undefined && value <= above) return { wrong: ["above", above] };
  if (below !== undefined && value >= below) return { wrong: ["below", below] };
  // A whole number of 64 bits is sent with all its digits, of which a double forgets some.
  return { value: Number.isSafeInteger(value) || !/^-?\d+$/.test(digits) ? value : readJson(digits) };
}

/** A number as JSON writes it: no plus, a digit on both sides of the point, no zeros before. */
const digitsOf = (raw) => raw.replace(/^\+/, "").replace(/(?<!\d)\./, "0.").replace(/\.(?!\d)/, "").replace(/^(-?)0+(?=\d)/, "$1");

function readText({ min, max, pattern, format }, raw) {
  if (format === "date-time") {
    const at = new Date(raw);
    return Number.isNaN(at.getTime()) ? { wrong: ["time"] } : { value: at.toISOString() };
  }
  const length = [...raw].length;
  if (min !== undefined && length < min) return { wrong: ["longer", min] };
  if (max !== undefined && length > max) return { wrong: ["shorter", max] };
  if (pattern !== undefined && !fits(pattern, raw)) return { wrong: ["pattern", pattern] };
  return { value: raw };
}

function fits(pattern, raw) {
  try {
    return new RegExp(pattern, "u").test(raw);
  } catch {
    return true; // The server reads patterns in a way of its own.
  }
}

function readList({ item, required, min, max }, raws) {
  if (raws.length === 0 && !required) return {};
  if (raws.length < min) return { wrong: ["moreItems", min] };
  if (max !== undefined && raws.length > max) return { wrong: ["fewerItems", max] };
  const read = raws.map((raw) => readField(item, raw));
  const at = read.findIndex(({ wrong }) => wrong);
  return at < 0 ? { value: read.map(({ value }) => value) } : { wrong: read[at].wrong, at };
}

const SHAPES = { object: isObject, array: Array.isArray };

function readDeep({ shape }, raw) {
  let value;
  try {
    value = readJson(raw);
  } catch (error) {
    return { wrong: ["json", error.message] };
  }
  return SHAPES[shape]?.(value) === false ? { wrong: [shape] } : { value };
}

/** All fields together: `{ value }`, the arguments, or `{ wrong }`: the place of a field among them → what is wrong with it. */
export function readAll(fields, raws) {
  const read = fields.map((field, index) => readField(field, raws[index]));
  const wrong = new Map(read.flatMap((each, index) => (each.wrong ? [[index, each]] : [])));
  if (wrong.size > 0) return { wrong };
  if (fields.length === 1 && fields[0].name === null) return { value: read[0].value ?? {} };
  const given = fields.flatMap(({ name }, index) => ("value" in read[index] ? [[name, read[index].value]] : []));
  return { value: Object.fromEntries(given) };
}
