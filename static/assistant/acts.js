// Acts of the parts of a to-do when they are pressed: each is one of the twenty functions, by
// number and not by name, or a change of the task.

import { askMinutes, askName, askReminder, askRepeat } from "./dialogs.js";
import { said } from "./words.js";

const isOver = ({ status }) => status === "done" || status === "cancelled";
/** A task or a step as the functions understand it beyond doubt. */
const numberOf = ({ id }) => `#${id}`;

/** The steps with the one at `from` moved to `to`. Pure. */
export function movedStep(steps, from, to) {
  const all = [...steps];
  all.splice(to, 0, ...all.splice(from, 1));
  return all;
}

/** A step as a change of its task has it. */
const asChange = ({ id, title, completed }) => ({ id, title, completed });

/** The acts of `<l3-todo>`. `follow(title, order)` tells what came of an order; `openMenu` is that of `ui/menu.js`. */
export function actsOf({ orders, follow, fold, openMenu }) {
  const press = (task, name, more = {}) => orders.press(task.id, name, { taskName: numberOf(task), ...more });
  const tell = (task, order) => follow(task.title, order);
  const steps = (task, all) => tell(task, orders.change(task.id, { subtasks: all.map(asChange) }));
  const moveStep = (task, { id }, by) => {
    const from = task.subtasks.findIndex((step) => step.id === id);
    steps(task, movedStep(task.subtasks, from, from + by));
  };

  function menu(task, from) {
    const all = [{ text: said.rename, action: () => askName(task.title, (newName) => press(task, "renameTask", { newName })) }];
    if (!isOver(task)) {
      all.push(
        { text: said.focus, action: () => askMinutes(task.title, (minutes) => press(task, "startTimer", { minutes })) },
        { text: said.remind, action: () => askReminder(task, (at) => press(task, "setReminder", { at })) },
        ...(task.remind_at ? [{ text: said.remindOff, action: () => tell(task, press(task, "removeReminder")) }] : []),
        { text: said.repeat, action: () => askRepeat(task, (rule) => press(task, "setRecurrence", { rule })) },
        ...(task.recurrence ? [{ text: said.repeatOff, action: () => tell(task, press(task, "setRecurrence", { rule: "none" })) }] : []),
      );
    }
    all.push({ text: said.delete, kind: "danger", action: () => tell(task, press(task, "deleteTask", { confirmed: false })) });
    openMenu(from, all);
  }

  function stepMenu(task, step, from) {
    const at = task.subtasks.indexOf(step);
    const subtaskName = numberOf(step);
    openMenu(from, [
      { text: said.rename, action: () => askName(step.title, (newName) => press(task, "renameSubtask", { subtaskName, newName })) },
      ...(at > 0 ? [{ text: said.up, action: () => moveStep(task, step, -1) }] : []),
      ...(at < task.subtasks.length - 1 ? [{ text: said.down, action: () => moveStep(task, step, 1) }] : []),
      { text: said.remove, kind: "danger", action: () => tell(task, press(task, "removeSubtask", { subtaskName })) },
    ]);
  }

  return {
    fold,
    menu,
    stepMenu,
    moveStep,
    tick: (task) => tell(task, isOver(task) ? orders.change(task.id, { status: "pending" }) : press(task, "completeTask")),
    tickStep: (task, step) =>
      step.completed
        ? steps(task, task.subtasks.map((each) => (each.id === step.id ? { ...each, completed: false } : each)))
        : tell(task, press(task, "completeSubtask", { subtaskName: numberOf(step) })),
    addStep: (task, title) => tell(task, press(task, "addSubtask", { subtaskName: title })),
  };
}
