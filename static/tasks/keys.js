// Tasks by keyboard: arrows move among them, with Shift they move the task itself by a day or a
// week; Space ticks it, Delete deletes it. Enter is the browser's own.

import { keyAlong } from "../ui/along.js";

const STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 7, ArrowUp: -7 };

/** The meaning of a key on a task: `{ move: days }`, `{ go: "next" | "previous" | "beside" | "before" }`, `{ ticks: true }`, `{ deletes: true }`, or nothing. Pure. */
export function meaningOf({ key, shiftKey, altKey, ctrlKey, metaKey }, inWeek) {
  if (altKey || ctrlKey || metaKey) return undefined;
  if (key === "Delete" && !shiftKey) return { deletes: true };
  if (key === " " && !shiftKey) return { ticks: true };
  if (!Object.hasOwn(STEPS, key)) return undefined;
  if (shiftKey) return { move: STEPS[key] };
  if (key === "ArrowDown") return { go: "next" };
  if (key === "ArrowUp") return { go: "previous" };
  if (!inWeek) return undefined;
  return { go: key === "ArrowRight" ? "beside" : "before" };
}

/** The task that a person comes to from `task` among `all`, the shown ones in their order. */
export function target(all, task, go) {
  const at = all.indexOf(task);
  if (go === "next" || go === "previous") return all[at + (go === "next" ? 1 : -1)];
  const day = (each) => each.closest(".week-day");
  const own = day(task);
  const rest = go === "beside" ? all.slice(at + 1) : all.slice(0, at).toReversed();
  const other = rest.find((each) => day(each) && day(each) !== own);
  return other && go === "before" ? all.find((each) => day(each) === day(other)) : other;
}

/** Listens on `box`, where the tasks stand: `shown()` are their elements, `move(task, days)` moves one, `tick(task)` ticks one, `remove(task)` deletes one, and `add()` goes to the line that adds. */
export function listenForKeys(box, { shown, inWeek, move, tick, remove, add, signal }) {
  // The box and the button of the menu have the browser's own way with Space; on the title it would
  // be a press, once the key is let go.
  const isOnTitle = ({ key, target: at }) => key === " " && at.dataset.part === "title";
  box.addEventListener("keyup", (event) => isOnTitle(event) && event.preventDefault());
  box.addEventListener("keydown", (event) => {
    if (event.key === " " && !isOnTitle(event)) return;
    const task = event.target.closest("l3-task");
    const { shiftKey, altKey, ctrlKey, metaKey } = event;
    const meaning = task && meaningOf({ key: keyAlong(event), shiftKey, altKey, ctrlKey, metaKey }, inWeek());
    if (!meaning) return;
    event.preventDefault();
    if (meaning.go) target(shown(), task, meaning.go)?.focusPart(event.target.dataset.part);
    else if (meaning.deletes) remove(task.task);
    else if (meaning.ticks) event.repeat || tick(task.task);
    else move(task.task, meaning.move);
  });
  const anywhere = (event) => {
    const writes = event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog, [contenteditable]");
    if (event.key !== "n" || event.altKey || event.ctrlKey || event.metaKey || writes) return;
    event.preventDefault();
    add();
  };
  document.addEventListener("keydown", anywhere, { signal });
}
