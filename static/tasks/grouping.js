// Tasks in the order in which they matter: overdue, today, this week, later, without a date, done.
// Pure.

import { dayStart, weekOf } from "./days.js";

/** The groups, in the order in which they stand. */
export const GROUPS = ["overdue", "today", "week", "later", "undated", "done"];

/** True if nothing is left to be done. */
export const isOver = ({ status }) => status === "done" || status === "cancelled";

/** Which group a task belongs to, seen from `now` (milliseconds), in the reader's zone. A week begins with the day `first`. */
export function groupOf(task, now, first) {
  if (isOver(task)) return "done";
  const at = Date.parse(task.due_at ?? "");
  if (Number.isNaN(at)) return "undated";
  if (at < now) return "overdue";
  if (at < dayStart(now, 1)) return "today";
  return at < weekOf(now, first)[7] ? "week" : "later";
}

/** `tasks` (open ones first, as `taskLists` has them) as `[group, tasks]`, without the groups that are empty. */
export function grouped({ open, closed }, now, first) {
  const all = [...open, ...closed];
  return GROUPS.map((group) => [group, all.filter((task) => groupOf(task, now, first) === group)]).filter(([, own]) => own.length > 0);
}

/** The tasks of each of the seven days of a week, open ones first; `days` as `weekOf` has them. */
export function byDay({ open, closed }, days) {
  const due = (task) => Date.parse(task.due_at ?? "");
  const own = (all, index) => all.filter((task) => due(task) >= days[index] && due(task) < days[index + 1]);
  const byTime = (all) => all.toSorted((a, b) => due(a) - due(b));
  return days.slice(0, 7).map((_, index) => [...byTime(own(open, index)), ...byTime(own(closed, index))]);
}
