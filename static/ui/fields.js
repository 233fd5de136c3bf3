// A form made from a JSON Schema: a field for each argument, JSON only for what is deeper than a
// list.

import { h } from "../core/dom.js";
import { reasonOf, words, wordsOf } from "../core/words.js";
import { button, iconButton } from "./button.js";
import { input, select, toggle } from "./forms.js";
import { fieldsOf, rawOf, readAll } from "./schema.js";

const { fields: said } = await wordsOf("capabilities");
let made = 0;

/**
 * The form. `submit(arguments)` is called with what was filled in once it fits the schema; what it throws is shown in the form. `label` is
 * the word on the button.
 */
export function schemaForm(schema, { submit, label }) {
  const fields = fieldsOf(schema);
  const parts = fields.map(fieldPart);
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const say = (text) => {
    problem.hidden = !text;
    problem.textContent = text ?? "";
  };
  const send = async () => {
    const { value, wrong } = readAll(fields, parts.map((part) => part.raw()));
    parts.forEach((part, index) => part.wrong(wrong?.get(index)));
    if (wrong) return parts[[...wrong.keys()][0]].focus();
    say(undefined);
    try {
      await submit(value);
    } catch (error) {
      say(reasonOf(error));
    }
  };
  const go = button(label, send, { kind: "primary", type: "submit", "data-testid": "schema-submit" });
  const none = fields.length === 0 ? h("p", { class: "none" }, said.none) : "";
  const form = h("form", { class: "schema-form", novalidate: true, "data-testid": "schema-form" }, none, parts.map(({ node }) => node), problem);
  form.append(h("div", { class: "form-foot" }, go));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("keydown", (event) => {
    // Enter in a text of several lines is a line.
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    go.click();
  });
  return form;
}

/** One field with its label, its help and a place for what is wrong: `{ node, raw(), wrong(found), focus() }`. */
function fieldPart(field) {
  made += 1;
  const ids = { label: `field-${made}`, help: `field-help-${made}`, problem: `field-wrong-${made}` };
  const control = field.kind === "list" ? listControl(field) : simpleControl(field, rawOf(field));
  const problem = h("span", { class: "wrong", id: ids.problem, role: "alert", hidden: true });
  const name = field.title || said.arguments;
  const mark = field.required ? "" : h("span", { class: "optional" }, said.optional);
  const hint = hintOf(field);
  // A schema's words end as they like; a sentence of the page follows.
  const help = [hint ? field.help?.replace(/[\p{L}\p{N})]$/u, "$&.") : field.help, hint].filter(Boolean).join(" ");
  const about = [help && ids.help, ids.problem].filter(Boolean).join(" ");
  const title = h("span", { class: "field-name" }, h("span", { id: ids.label, dir: "auto" }, name), mark);
  const node = h(control.isGroup ? "div" : "label", { class: "field", "data-field": field.name ?? "" }, title, control.node);
  const named = control.isGroup ? control.node : control.target;
  // Else help and fault would be read as parts of the name.
  named.setAttribute("aria-labelledby", ids.label);
  named.setAttribute("aria-describedby", about);
  if (help) node.append(h("span", { class: "help", id: ids.help, dir: "auto" }, help));
  node.append(problem);
  const wrong = (found) => {
    problem.hidden = !found;
    problem.textContent = found ? wrongWords(found.wrong) : "";
    control.mark(found);
  };
  return { node, raw: control.raw, wrong, focus: () => control.focus() };
}

function wrongWords([name, ...about]) {
  return typeof said[name] === "function" ? said[name](...about) : said[name];
}

/** The rules for a value, in words, if the schema has some. */
function hintOf({ kind, min, max, format }) {
  if (kind === "number" && min !== undefined && max !== undefined) return said.from(min, max);
  if (kind === "number" && min !== undefined) return said.atLeast(min);
  if (kind === "number" && max !== undefined) return said.atMost(max);
  if (kind === "text" && max !== undefined && !format) return said.shorter(max);
  return kind === "json" ? said.asJson : "";
}

/** A control for one value: `{ node, target, raw(), mark(found), focus() }`. */
function simpleControl(field, raw) {
  const { node, target, value } = makeControl(field, raw);
  const mark = (found) => (found ? target.setAttribute("aria-invalid", "true") : target.removeAttribute("aria-invalid"));
  return { node, target, raw: value, mark, focus: () => target.focus() };
}

function makeControl(field, raw) {
  switch (field.kind) {
    case "flag":
      return flagControl(field, raw);
    case "choice":
      return choice(field.options.map((option, index) => [String(index), typeof option === "string" ? option : JSON.stringify(option)]), raw, field.required);
    case "number":
      return line(input({ value: raw, inputmode: field.whole ? "numeric" : "decimal", dir: "ltr" }));
    case "json":
      return line(area(raw, { class: "input as-code", rows: "4", spellcheck: "false", dir: "ltr" }));
    default:
      return textControl(field, raw);
  }
}

const line = (target) => ({ node: target, target, value: () => target.value });

function area(raw, attributes) {
  const target = h("textarea", { class: "input", rows: "1", autocomplete: "off", dir: "auto", ...attributes });
  target.value = raw;
  return target;
}

const INPUTS = { date: "date", "date-time": "datetime-local", time: "time", email: "email", uri: "url" };

function textControl({ format, max }, raw) {
  if (INPUTS[format]) return line(input({ type: INPUTS[format], value: raw, dir: undefined }));
  // A text may have several lines, unless it is meant to be short.
  return max !== undefined && max <= 120 ? line(input({ value: raw })) : line(area(raw));
}

/** On or off; if it may be left out, that is a third answer. */
function flagControl({ required }, raw) {
  if (!required) return choice([["true", said.yes], ["false", said.no]], raw, false);
  const node = toggle("", raw === "true", () => {});
  const target = node.querySelector("input");
  // The field has the words already, and a label in a label would name it twice.
  return { node: h("span", { class: "switch" }, target), target, value: () => String(target.checked) };
}

function choice(options, raw, required) {
  const none = required && raw !== "" ? [] : [["", required ? said.choose : said.leaveOut]];
  return line(select([...none, ...options], raw, () => {}));
}

/** A list of simple values: each can be taken away, and one more added. */
function listControl(field) {
  const rows = [];
  const list = h("div", { class: "list-rows" });
  const node = h("div", { class: "list-field", role: "group" });
  const add = (raw, focus) => {
    const control = simpleControl(field.item, raw);
    const row = { control };
    const remove = iconButton("close", said.remove, () => {
      const at = rows.indexOf(row);
      rows.splice(at, 1);
      row.node.remove();
      (rows[at] ?? rows[at - 1])?.control.focus();
      if (rows.length === 0) more.focus();
      name();
    });
    row.node = h("div", { class: "list-row" }, control.node, remove);
    rows.push(row);
    list.append(row.node);
    name();
    if (focus) control.focus();
  };
  const name = () => rows.forEach(({ control, node: each }, index) => {
    control.target.setAttribute("aria-label", said.entry(index + 1));
    each.querySelector(".icon-button").setAttribute("aria-label", said.removeEntry(index + 1));
  });
  const more = button(said.add, () => add(rawOf(field.item), true), { kind: "quiet", icon: "plus" });
  node.append(list, more);
  const raws = rawOf(field);
  for (const raw of raws) add(raw, false);
  // One that may be left out begins without entries, which would have to be taken away first.
  for (let count = raws.length; field.required && count < field.min; count += 1) add(rawOf(field.item), false);
  const mark = (found) => rows.forEach(({ control }, index) => control.mark(found?.at === index ? found : undefined));
  const focus = () => ((rows.find(({ control }) => control.target.ariaInvalid === "true") ?? rows[0])?.control ?? more).focus();
  return { node, isGroup: true, raw: () => rows.map(({ control }) => control.raw()), mark, focus };
}
