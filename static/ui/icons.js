// The one set of icons: 20 px, one line of 1.6 px, drawn with the current colour. Those that come
// later stand in `icons-more.js`.

import { icon } from "../core/dom.js";

const PATHS = {
  chat: "M4 4.5h12v9H9.5L6 16.5v-3H4z",
  approvals: "M10 2.8l6 2.2v4.6c0 3.6-2.4 6.1-6 7.6-3.6-1.5-6-4-6-7.6V5zM7.5 9.8l1.8 1.8 3.4-3.6",
  assistant: "M16 11.8A6.6 6.6 0 1 1 8.2 4a5.2 5.2 0 0 0 7.8 7.8zM14.5 3.2v3.6M12.7 5h3.6",
  tasks: "M3.5 5l1.2 1.2L7 4M3.5 10.5l1.2 1.2L7 9.5M3.5 16l1.2 1.2L7 15M10 5.5h6.5M10 11h6.5M10 16.5h6.5",
  capabilities: "M8 3h4v3.2a1.6 1.6 0 1 0 3.2 0H17v4.3h-1.8a1.6 1.6 0 1 0 0 3.2H17V17H3V6h5z",
  activity: "M2.5 10.5h3.2L8 4.5l4 11 2.3-5h3.2",
  settings: "M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4",
  more: "M4.5 10h.1M10 10h.1M15.5 10h.1",
  list: "M3 4h14v12H3zM7.5 4v12",
  plus: "M10 4v12M4 10h12",
  search: "M8.8 3.5a5.3 5.3 0 1 1 0 10.6 5.3 5.3 0 0 1 0-10.6zM12.7 12.7L17 17",
  close: "M5 5l10 10M15 5L5 15",
  back: "M12.5 4.5L7 10l5.5 5.5",
  forward: "M7.5 4.5L13 10l-5.5 5.5",
  up: "M5 12.5L10 7.5l5 5",
  down: "M5 7.5l5 5 5-5",
  next: "M7.5 5l5 5-5 5",
  sql: "M4 5.5c0-1.1 2.7-2 6-2s6 .9 6 2-2.7 2-6 2-6-.9-6-2zM4 5.5v9c0 1.1 2.7 2 6 2s6-.9 6-2v-9M4 10c0 1.1 2.7 2 6 2s6-.9 6-2",
  made: "M11 3L5 11.5h4L8.5 17 15 8.5h-4.5z",
  call: "M7 4.5L2.5 10 7 15.5M13 4.5l4.5 5.5-4.5 5.5",
  note: "M4 5h12M4 10h12M4 15h7",
  warning: "M10 3.5l7 12.5H3zM10 8v3.5M10 13.6v.2",
  copy: "M7 7h9v9H7zM13 7V4H4v9h3",
  retry: "M15.5 7A6.3 6.3 0 1 0 16 11.5M15.8 3.2V7H12",
  branch: "M6 3.5v13M6 12c0-3.5 8-2 8-6.5M14 3.2a1.2 1.2 0 1 0 .01 0M6 14.8",
  edit: "M4 16l.8-3.4L13 4.4l2.6 2.6-8.2 8.2z",
  image: "M3 5h14v10H3zM3 13l4-4 3.5 3.5L13 10l4 4M13 8v.2",
  send: "M10 16V4M5 9l5-5 5 5",
  end: "M10 4v12M5 11l5 5 5-5",
  stop: "M6 6h8v8H6z",
};

/** Those that point along the line: they point the other way if the line is written the other way. */
const ALONG = new Set(["back", "forward", "list"]);

/** The icon `name`, one of `icons-more.js`, or the mark that a place brings; with `label` it has a name of its own, else it is decoration. */
export function iconOf(name, label) {
  const node = icon(PATHS[name] ?? (/^M/.test(name) ? name : PATHS.more), label);
  if (ALONG.has(name)) node.classList.add("along");
  return node;
}

/** The names of all icons. */
export const ICONS = Object.keys(PATHS);
