// The open task. It has an address, so that a link opens it and a phone's Back leads to the list.

import { addressOf } from "../core/address.js";
import { taskLists } from "../core/entries.js";
import { mainState, together } from "../core/workspace.js";
import { errorState } from "../ui/states.js";
import { openTask } from "./edit.js";
import { tasks as said } from "./words.js";

/**
 * `go(id, from)` opens a task and gives it the address; `show(id)` opens the one that the address names, or none. `change(id, fields, text)` orders a
 * change, `tellOf(node)` says that a task is missing, and `place()` gives the parts of the address without a task.
 */
export function createOpened({ store, go: goTo, signal, change, tellOf, place }) {
  let pane;
  /** True if the address of the list is the one before, to which Back leads. */
  let isBehind = false;
  /** The task that was pressed, until its address has come. */
  let pressed;
  /** The task that the address names, until the list is there. */
  let named;

  function go(id, from) {
    const text = String(id);
    pressed = { id: text, from, isBehind: pane ? isBehind : true };
    if (!pane) return goTo("tasks", text);
    // Beside the list another task is pressed: one Back leads to the list all the same.
    history.replaceState(null, "", addressOf("tasks", text));
    return show(text);
  }

  /** Once the list is there; a task that is not in it is said to be missing. */
  function show(id) {
    const own = pressed?.id === id ? pressed : undefined;
    pressed = undefined;
    named = id;
    if (id === undefined) return;
    const look = (workspace) => {
      if (signal.aborted || named !== id) return;
      const isThere = put(id, own);
      if (!isThere && !mainState(workspace).lists.tasks?.entries) return;
      if (!isThere) tellOf(errorState(said.missing(id)));
      named = undefined;
    };
    look(store.getState());
    if (named) store.subscribe(look);
  }

  function put(id, own) {
    const { open, closed } = taskLists(together(store.getState()));
    const task = [...open, ...closed].find((each) => each.id === Number(id));
    if (!task) return false;
    // The pane that this one takes the place of leads nowhere.
    pane = undefined;
    isBehind = own?.isBehind === true;
    const mine = openTask(task, { change: (each, fields) => change(each, fields, said.saved(task.title)), from: own?.from });
    pane = mine;
    mine.addEventListener("details-closed", () => pane === mine && left(id));
    return true;
  }

  /** The address is the list's again, so that the same link opens the task once more. */
  function left(id) {
    pane = undefined;
    if (signal.aborted || location.hash !== addressOf("tasks", id)) return;
    if (isBehind) history.back();
    else history.replaceState(null, "", addressOf("tasks", ...place()));
  }

  return { go, show };
}
