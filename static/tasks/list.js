// The tasks in groups, by when they are due.

import { h, keyed } from "../core/dom.js";
import { GROUPS, grouped } from "./grouping.js";
import { tasks as said } from "./words.js";

/** Tasks that are over are shown up to this many. */
const CLOSED_SHOWN = 50;

/** A row for `keyed`: a task is made anew when one of these changes. */
export const rowOf = ({ id, title, details, status, due_at, conversation, saving = false }, brief = false) =>
  ({ key: id, id, title, details, status, due_at: due_at ?? null, conversation, saving, brief });

/** Makes the element of a task. */
export const makeTask = () => document.createElement("l3-task");

/** One group: its name and its list. */
export function groupSection(group) {
  const list = h("div", { class: "tasks", role: "list", "aria-label": said[group] });
  return { node: h("section", { hidden: true, "data-group": group }, h("h2", {}, said[group]), list), list };
}

/** The list: `{ node, show(tasks, now) }`. */
export function listPane() {
  const sections = new Map(GROUPS.map((group) => [group, groupSection(group)]));
  const show = ({ open, closed }, now) => {
    const groups = new Map(grouped({ open, closed: closed.slice(0, CLOSED_SHOWN) }, now));
    for (const [group, { node, list }] of sections) {
      keyed(list, (groups.get(group) ?? []).map((task) => rowOf(task)), makeTask);
      node.hidden = !groups.has(group);
    }
  };
  return { node: h("div", { "data-testid": "task-list" }, [...sections.values()].map(({ node }) => node)), show };
}
