// The list of conversations in groups: pinned, then by the day of the last activity. Pure.

const DAY_MS = 86_400_000;

/** Which group a conversation belongs to, seen from `now` (milliseconds), in the reader's zone. */
export function groupOf({ pinned, active_at: activeAt }, now) {
  if (pinned) return "pinned";
  const start = new Date(now);
  start.setHours(0, 0, 0, 0);
  const at = Date.parse(activeAt);
  // One without an activity was made just now.
  if (Number.isNaN(at) || at >= start.getTime()) return "today";
  // Days of 23 and of 25 hours exist: noon of yesterday is yesterday in each of them.
  const yesterday = new Date(start.getTime() - DAY_MS / 2);
  yesterday.setHours(0, 0, 0, 0);
  return at >= yesterday.getTime() ? "yesterday" : "earlier";
}

/** Rows for the list: a heading before each group that has entries. */
export function groupedRows(conversations, now) {
  const rows = [];
  for (const group of ["pinned", "today", "yesterday", "earlier"]) {
    const own = conversations.filter((each) => groupOf(each, now) === group);
    if (own.length > 0) rows.push({ key: `group:${group}`, kind: "group", group }, ...own.map(entryRow));
  }
  return rows;
}

function entryRow({ id, title, pinned, archived, main, running, waiting }) {
  return { key: `conversation:${id}`, kind: "conversation", id, title: title ?? "", pinned, archived, main, running, waiting };
}
