// Questions before a change: another name, a time, a rule, so many minutes. A refusal of the server
// is said in the dialog, which stays.

import { h } from "../core/dom.js";
import { ask } from "../ui/dialog.js";
import { field, input, select } from "../ui/forms.js";
import { said } from "./words.js";

const MINUTES = 25;
const MOST_MINUTES = 600;
const RULES = ["daily", "weekdays", "weekly", "monthly", "yearly"];

/** The action of a dialog: `press()` gives an outcome, and what was not done is thrown. */
const orThrow = (press) => async () => {
  const outcome = await press();
  if (outcome && outcome.state !== "done" && outcome.state !== "waits") throw new Error(outcome.said);
};

/** A value that was not given as it must be is said, and its field has the focus. */
function need(isGiven, control, text) {
  if (isGiven) return;
  control.focus();
  throw new Error(text);
}

/** Asks for another name. */
export function askName(title, press) {
  const name = input({ value: title, maxlength: "200", "data-testid": "new-name" });
  const { node } = field(said.title, name);
  ask({ title: said.renameTitle, control: node, yes: said.rename, action: orThrow(() => press(name.value.trim())) });
  name.select();
}

/** Asks when a person wants to be reminded. */
export function askReminder({ title, remind_at: at }, press) {
  const time = input({ type: "datetime-local", value: at ? localField(at) : "", dir: undefined, "data-testid": "remind-at" });
  const action = async () => {
    const chosen = new Date(time.value);
    need(!Number.isNaN(chosen.getTime()), time, said.needsTime);
    await orThrow(() => press(chosen.toISOString()))();
  };
  ask({ title: said.remindTitle(title), control: field(said.remindAt, time).node, yes: said.remindSet, action });
}

/** A time as its field has it, in the reader's zone. */
function localField(at) {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Asks how often a task comes round. */
export function askRepeat({ title, recurrence }, press) {
  const rule = recurrence?.rule;
  const isOwn = rule !== undefined && !RULES.includes(rule);
  const own = input({ value: isOwn ? rule : "", maxlength: "200", spellcheck: "false", dir: "ltr", "data-testid": "repeat-own" });
  const ownField = field(said.repeatOwn, own, said.repeatOwnHelp);
  ownField.node.hidden = !isOwn;
  let chosen = isOwn ? "own" : (rule ?? "daily");
  const choose = (value) => {
    chosen = value;
    ownField.node.hidden = value !== "own";
  };
  const choice = select(Object.entries(said.repeatChoices), chosen, choose);
  choice.dataset.testid = "repeat-rule";
  const control = h("div", {}, field(said.repeatRule, choice).node, ownField.node);
  ask({ title: said.repeatTitle(title), control, yes: said.repeatSet, action: orThrow(() => press(chosen === "own" ? own.value.trim() : chosen)) });
}

/** Asks for how long. */
export function askMinutes(title, press) {
  const minutes = minutesField();
  const action = async () => {
    const number = minutesOf(minutes.value);
    need(number !== undefined, minutes, said.needsMinutes);
    await orThrow(() => press(number))();
  };
  ask({ title: said.focusOn(title), control: field(said.minutes, minutes, said.minutesHelp).node, yes: said.start, action });
  minutes.select();
}

/** A field for minutes. */
export const minutesField = () => input({ value: String(MINUTES), inputmode: "numeric", maxlength: "3", dir: "ltr", "data-testid": "minutes" });

/** The minutes that stand in it; nothing if they are none that a timer takes. Pure. */
export function minutesOf(text) {
  const number = /^\s*\d+\s*$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= MOST_MINUTES ? number : undefined;
}
