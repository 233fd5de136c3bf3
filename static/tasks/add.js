// The line that adds a task: what is to be done, and if it is to wake the assistant, when.

import { h } from "../core/dom.js";
import { draftOf } from "../core/drafts.js";
import { button } from "../ui/button.js";
import { input } from "../ui/forms.js";
import { timeOfField } from "./days.js";
import { tasks as said } from "./words.js";

/** The most characters of a title that the server takes. */
export const LONGEST_TITLE = 200;

/**
 * The form: `{ node, focus() }`; `add({ title, due_at }, isBegun)` orders a task and gives the order's outcome. `isBegun()` is true while another one
 * stands in the form: a text is kept in `storage`, and comes back if it is refused and finds the form empty.
 */
export function addForm(add, storage) {
  const title = input({ placeholder: said.add, "aria-label": said.add, maxlength: LONGEST_TITLE, "data-testid": "task-new" });
  const due = input({ type: "datetime-local", "aria-label": said.due, dir: undefined, "data-testid": "task-due" });
  const draft = draftOf(storage, "tasks");
  [title.value = "", due.value = ""] = draft.texts();
  const isBegun = () => title.value !== "" || due.value !== "";
  const fill = (...texts) => {
    [title.value, due.value] = texts;
    draft.keep(...texts);
  };
  async function submit() {
    const given = [title.value, due.value];
    title.focus();
    if (title.value.trim() === "") return;
    const at = timeOfField(due.value);
    fill("", "");
    const outcome = await add({ title: given[0].trim(), ...(at && { due_at: at }) }, isBegun);
    // A task that is refused is to be mended, unless another one is begun meanwhile.
    if (outcome?.state === "failed" && !isBegun()) fill(...given);
  }
  // The next one may be added while this one is on its way.
  const press = () => void submit();
  const node = h("form", { class: "task-add" }, title, due, button(said.addButton, press, { type: "submit", icon: "plus", "data-testid": "task-add" }));
  node.addEventListener("submit", (event) => event.preventDefault());
  node.addEventListener("input", () => draft.keep(title.value, due.value));
  return { node, focus: () => title.focus() };
}
