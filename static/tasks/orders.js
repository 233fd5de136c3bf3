// Changes that a person orders: shown at once as they will be, and taken back with words if they
// are not carried out.

import { carried } from "../core/orders.js";
import { waiting } from "../core/state-law.js";
import { mainState } from "../core/workspace.js";
import { isOver } from "./grouping.js";
import { tasks as said } from "./words.js";

/**
 * The orders of this page. `changed()` is called when something is to be shown anew, and `tell(text, outcome, again)` with what a person should
 * know: `outcome` as `carried` gives it, and `again()` tries it once more.
 */
export function createOrders({ session, changed, tell, signal }) {
  const pending = new Map();
  let added = 0;

  /**
   * Carries one order out; resolves with its outcome, after the list is known anew. Nothing is thrown: a person is told. The next order on the same
   * task begins with what this one will have made of it, and is sent once the server has this one: the last word stays the last.
   */
  async function carry(key, title, shown, order) {
    const before = pending.get(key);
    const sent = before ? before.sent.catch(() => {}).then(order) : order();
    const mine = { shown: { ...before?.shown, ...shown }, sent };
    pending.set(key, mine);
    changed();
    const outcome = await carried(session, () => sent, signal);
    if (!outcome) return undefined;
    // Another order on the same task may follow this one.
    if (pending.get(key) === mine) pending.delete(key);
    changed();
    const again = () => carry(key, title, shown, order);
    if (outcome.state === "waits") tell(said.waits, outcome);
    else if (outcome.state !== "done") tell(said.failed(title, outcome.said ?? said.notDone), outcome, again);
    return outcome;
  }

  return {
    /** Orders a change of a task. */
    change: (id, title, fields) => carry(id, title, { ...fields, ...("due_at" in fields && { due_at: fields.due_at || null }) }, () => session.api.changeTask(id, fields)),
    /** Orders that a task is deleted. It is shown until it is gone: as a rule the law asks first. */
    remove: (id, title) => carry(id, title, {}, () => session.api.deleteTask(id)),
    /** Orders a new task. */
    add(fields) {
      added += 1;
      const shown = { status: "pending", details: "", due_at: null, ...fields };
      return carry(`new-${added}`, fields.title, shown, () => session.api.addTask(fields));
    },
    /** The lists as they will be: `{ open, closed }`, with `saving` on each task that an order is under way for: `sent`, or `behind` a question. */
    over({ open, closed }, saving = "sent") {
      if (pending.size === 0) return { open, closed };
      const all = [...open, ...closed].map((task) => (pending.has(task.id) ? { ...task, ...pending.get(task.id).shown, saving } : task));
      for (const [key, { shown }] of pending) if (typeof key === "string") all.push({ id: key, title: "", ...shown, saving });
      const sorted = all.filter((task) => !isOver(task)).toSorted((a, b) => due(a) - due(b));
      return { open: sorted, closed: all.filter(isOver) };
    },
  };
}

/** True while a question waits for the person in the conversation that carries orders out: those stand behind it. */
export const isAsked = (workspace) => waiting(mainState(workspace)).length > 0;

const due = ({ due_at: at }) => (at ? Date.parse(at) : Number.MAX_SAFE_INTEGER);
