// The fields of one task, in the details beside the list.

import { h } from "../core/dom.js";
import { shortTime } from "../core/times.js";
import { words } from "../core/words.js";
import { button } from "../ui/button.js";
import { closeDetails, openDetails } from "../ui/details.js";
import { field, input, select } from "../ui/forms.js";
import { LONGEST_TITLE } from "./add.js";
import { fieldOfTime, timeOfField } from "./days.js";
import { tasks as said } from "./words.js";

const STATUSES = ["pending", "in_progress", "done", "cancelled"];

/** Opens `task`; `change(id, fields)` orders a change. When it is closed the focus goes back to `from`. */
export function openTask(task, { change, from }) {
  const title = input({ value: task.title, required: true, maxlength: LONGEST_TITLE, name: "title" });
  const details = h("textarea", { class: "input", rows: "4", dir: "auto", name: "details" });
  details.value = task.details ?? "";
  const due = input({ type: "datetime-local", value: fieldOfTime(task.due_at), dir: undefined, name: "due" });
  let status = task.status;
  const state = select(STATUSES.map((each) => [each, said.status[each]]), status, (value) => (status = value));
  const titled = field(said.title, title);
  const save = button(words.say.save, () => submit(), { kind: "primary", type: "submit", "data-testid": "task-save" });
  const fields = [titled.node, field(said.details, details, said.detailsHelp).node, field(said.due, due, said.dueHelp(zone())).node, field(said.state, state).node];
  const form = h("form", { class: "schema-form", novalidate: true, "data-testid": "task-form" }, fields, h("div", { class: "form-foot" }, save), facts(task));
  form.addEventListener("submit", (event) => event.preventDefault());

  async function submit() {
    titled.wrong(title.value.trim() === "" ? said.needsTitle : undefined);
    if (title.value.trim() === "") return title.focus();
    const now = { title: title.value.trim(), details: details.value, status, due_at: timeOfField(due.value) };
    const before = { title: task.title, details: task.details ?? "", status: task.status, due_at: timeOfField(fieldOfTime(task.due_at)) };
    const changes = Object.fromEntries(Object.entries(now).filter(([name, value]) => value !== before[name]));
    closeDetails();
    if (Object.keys(changes).length > 0) change(task.id, changes);
  }
  return openDetails({ title: said.taskOf(task.id), body: form, from });
}

/** The facts that a person cannot change. */
function facts({ conversation, created_at: made, updated_at: changed, model }) {
  const row = (name, value) => (value ? [h("dt", {}, name), h("dd", { dir: "auto" }, value)] : []);
  const place = conversation && h("a", { href: `#chat/${conversation}` }, words.dock.conversation(conversation));
  return h("dl", { class: "facts" }, row(said.madeIn, place), row(said.made, made && shortTime(made)), row(said.changed, changed && shortTime(changed)), row(said.model, model));
}

/** The reader's time zone, as it calls itself. */
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
