// The line that adds a task: what is to be done, and if it is to wake the assistant, when.

import { h } from "../core/dom.js";
import { draftOf } from "../core/drafts.js";
import { button } from "../ui/button.js";
import { input } from "../ui/forms.js";
import { timeOfField } from "./days.js";
import { tasks as said } from "./words.js";

/** The form: `{ node, focus() }`; `add({ title, due_at })` orders a task. What is begun in it is kept in `storage`. */
export function addForm(add, storage) {
  const title = input({ placeholder: said.add, "aria-label": said.add, maxlength: "1000", "data-testid": "task-new" });
  const due = input({ type: "datetime-local", "aria-label": said.due, dir: undefined, "data-testid": "task-due" });
  const draft = draftOf(storage, "tasks");
  [title.value = "", due.value = ""] = draft.texts();
  const submit = () => {
    if (title.value.trim() === "") return title.focus();
    const at = timeOfField(due.value);
    add({ title: title.value.trim(), ...(at && { due_at: at }) });
    title.value = "";
    due.value = "";
    draft.keep();
    title.focus();
    return undefined;
  };
  const node = h("form", { class: "task-add" }, title, due, button(said.addButton, submit, { type: "submit", icon: "plus", "data-testid": "task-add" }));
  node.addEventListener("submit", (event) => event.preventDefault());
  node.addEventListener("input", () => draft.keep(title.value, due.value));
  return { node, focus: () => title.focus() };
}
