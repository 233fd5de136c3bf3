// Presses in the panel: each is an order that passes the same law as a call of the character, and
// is followed to its outcome.

import { carried } from "../core/orders.js";
import { said } from "./words.js";

/** The orders of a panel. `changed()` is told when something is under way, or is not any more. */
export function createOrders({ session, profile, changed, signal }) {
  /** task → how many orders are under way for it. */
  const under = new Map();
  const count = (key, by) => {
    const next = (under.get(key) ?? 0) + by;
    if (next > 0) under.set(key, next);
    else under.delete(key);
    changed();
  };

  /** Carries one out; gives its outcome, or nothing once the panel is gone. Nothing is thrown. */
  async function carry(key, order) {
    count(key, 1);
    const outcome = await carried(session, order, signal);
    if (!outcome) return undefined;
    count(key, -1);
    return outcome.state === "failed" || outcome.state === "unknown" ? { ...outcome, said: outcome.said ?? said.notDone } : outcome;
  }

  return {
    /** One of the twenty functions. `key` is the task it is for, if it is for one. */
    press: (key, name, args) => carry(key, () => session.api.todo(profile, name, args)),
    /** A change that none of them makes: open again, and the order of the steps. */
    change: (id, fields) => carry(id, () => session.api.changeTask(id, fields)),
    isUnder: (key) => under.has(key),
  };
}
