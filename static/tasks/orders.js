// Changes that a person orders: shown at once as they will be, and taken back with words if they
// are not carried out.

import { carried } from "../core/orders.js";
import { waiting } from "../core/state-law.js";
import { openTurns } from "../core/state-parts.js";
import { mainState } from "../core/workspace.js";
import { isOver } from "./grouping.js";
import { tasks as said } from "./words.js";

/** The fields of an order that a task shows. */
const FIELDS = ["title", "details", "status", "due_at"];
/** A task that is made has these, unless the order says otherwise. */
const NEW = { status: "pending", details: "", due_at: null };

/** The fields of an order as the task will have them. */
const shownOf = (fields) => ({ ...fields, ...("due_at" in fields && { due_at: fields.due_at || null }) });

/**
 * The orders of this page. `changed()` is called when something is to be shown anew, and `tell(text, outcome, again)` with what a person should
 * know: `outcome` as `carried` gives it, and `again()` tries it once more.
 */
export function createOrders({ session, changed, tell, signal }) {
  const pending = new Map();
  let added = 0;

  /**
   * Carries one order out; resolves with its outcome, after the list is known anew. Nothing is thrown: a person is told. The next order on the same
   * task begins with what this one will have made of it, and is sent once the server has this one: the last word stays the last. A refused one
   * is offered once more if `isOffered()` says so.
   */
  async function carry(key, title, shown, order, isOffered = () => true) {
    const before = pending.get(key);
    const sent = before ? before.sent.catch(() => {}).then(order) : order();
    const mine = { shown: { ...before?.shown, ...shown }, sent };
    sent.then(({ turn }) => (mine.turn = turn), () => {});
    pending.set(key, mine);
    changed();
    const outcome = await carried(session, () => sent, signal);
    if (!outcome) return undefined;
    // Another order on the same task may follow this one.
    if (pending.get(key) === mine) pending.delete(key);
    changed();
    const again = () => carry(key, title, shown, order);
    if (outcome.state === "waits") tell(said.waits, outcome);
    else if (outcome.state !== "done") tell(said.failed(title, outcome.said ?? said.notDone), outcome, isOffered() ? again : undefined);
    return outcome;
  }

  return {
    /** Orders a change of a task. */
    change: (id, title, fields) => carry(id, title, shownOf(fields), () => session.api.changeTask(id, fields)),
    /** Orders that a task is deleted. It is shown until it is gone: as a rule the law asks first. */
    remove: (id, title) => carry(id, title, {}, () => session.api.deleteTask(id)),
    /** Orders a new task. With `isOffered`, a refused one is offered once more only if that says so. */
    add(fields, isOffered) {
      added += 1;
      return carry(`new-${added}`, fields.title, shownOf(fields), () => session.api.addTask(fields), isOffered);
    },
    /**
     * The lists as they will be: `{ open, closed }`, with `saving` on each task that an order is under way for: `sent`, or `behind` a question.
     * `queued` are the orders that the conversation has, as `queuedOrders` gives them: those of this page may be among them.
     */
    over({ open, closed }, saving = "sent", queued = []) {
      if (pending.size === 0 && queued.length === 0) return { open, closed };
      const all = [...open, ...closed].map((task) => {
        const own = [...queued.filter(({ id }) => id === task.id), ...(pending.has(task.id) ? [pending.get(task.id)] : [])];
        return own.reduce((then, { shown }) => ({ ...then, ...shown, saving }), task);
      });
      const made = [...pending].filter(([key]) => typeof key === "string");
      // Until the server has answered, an order of this page is known by its title.
      const isOwn = ({ turn, shown }) => made.some(([, own]) => (own.turn === undefined ? own.shown.title === shown.title : own.turn === turn));
      for (const order of queued) if (order.id === undefined && !isOwn(order)) made.push([`turn-${order.turn}`, order]);
      for (const [key, { shown }] of made) all.push({ ...NEW, id: key, title: "", ...shown, saving });
      const sorted = all.filter((task) => !isOver(task)).toSorted((a, b) => due(a) - due(b));
      return { open: sorted, closed: all.filter(isOver) };
    },
  };
}

/** True while a question waits for the person in the conversation that carries orders out: those stand behind it. */
export const isAsked = (workspace) => waiting(mainState(workspace)).length > 0;

/**
 * The orders on tasks that wait for their turn, also those of another tab or from before this load, the oldest first: `{ turn, id, shown }`, without
 * an `id` if the task is yet to be made.
 */
export function queuedOrders(workspace) {
  const { items, turns } = mainState(workspace);
  const queued = openTurns(turns).filter(({ turn }) => turn.origin === "command" && turn.state === "queued").map(({ id }) => id);
  if (queued.length === 0) return [];
  const calls = [...items.values()].filter(({ kind, name, turn }) => kind === "tool" && name === "manage_tasks" && queued.includes(turn));
  return calls.map(({ turn, args }) => {
    const given = FIELDS.filter((field) => (args?.[field] ?? null) !== null);
    return { turn, id: args?.id, shown: shownOf(Object.fromEntries(given.map((field) => [field, args[field]]))) };
  });
}

const due = ({ due_at: at }) => (at ? Date.parse(at) : Number.MAX_SAFE_INTEGER);
