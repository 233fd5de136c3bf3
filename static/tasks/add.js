// The line that adds a task: what is to be done, and if it is to wake the assistant, when.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { input } from "../ui/forms.js";
import { timeOfField } from "./days.js";
import { tasks as said } from "./words.js";

/** The form: `{ node, focus() }`; `add({ title, due_at })` orders a task. */
export function addForm(add) {
  const title = input({ placeholder: said.add, "aria-label": said.add, maxlength: "1000", "data-testid": "task-new" });
  const due = input({ type: "datetime-local", "aria-label": said.due, dir: undefined, "data-testid": "task-due" });
  const submit = () => {
    if (title.value.trim() === "") return title.focus();
    const at = timeOfField(due.value);
    add({ title: title.value.trim(), ...(at && { due_at: at }) });
    title.value = "";
    due.value = "";
    title.focus();
    return undefined;
  };
  const node = h("form", { class: "task-add" }, title, due, button(said.addButton, submit, { type: "submit", icon: "plus", "data-testid": "task-add" }));
  node.addEventListener("submit", (event) => event.preventDefault());
  return { node, focus: () => title.focus() };
}
