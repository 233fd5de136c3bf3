// Seven days side by side, each with a list. Where there is no room for seven, one is shown.

import { h, keyed } from "../core/dom.js";

/** A week: `{ node, show(days, chosen) }`. `label` is its name; `make` makes the element of a row, as for `keyed`. */
export function weekView(make, label) {
  const columns = Array.from({ length: 7 }, () => {
    const name = h("h3", {});
    const list = h("div", { class: "week-list", role: "list" });
    return { node: h("section", { class: "week-day" }, name, list), name, list };
  });
  /** `days` are `{ start, name, long, isToday, rows }`; `chosen` is the place of the one that a narrow window shows. */
  const show = (days, chosen) =>
    days.forEach(({ name, long, isToday, rows }, index) => {
      const column = columns[index];
      if (column.name.textContent !== name) column.name.textContent = name;
      column.name.title = long;
      column.node.toggleAttribute("data-today", isToday);
      column.node.toggleAttribute("data-chosen", index === chosen);
      column.list.setAttribute("aria-label", long);
      keyed(column.list, rows, make);
    });
  // In a window of middle width it can be moved sideways, also by keyboard.
  return { node: h("div", { class: "week", role: "region", "aria-label": label, tabindex: "0" }, columns.map(({ node }) => node)), show };
}
