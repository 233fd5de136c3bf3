// Seven days side by side, each with a list. If there is no room for seven, one is shown.

import { h, keyed } from "../core/dom.js";

/** A week: `{ node, show(days, chosen) }`. `label` is its name; `make` makes the element of a row, as for `keyed`. */
export function weekView(make, label) {
  const columns = Array.from({ length: 7 }, () => {
    const name = h("h3", {});
    const list = h("div", { class: "week-list", role: "list" });
    return { node: h("section", { class: "week-day" }, name, list), name, list };
  });
  // In a window of middle width it can be moved sideways, also by keyboard.
  const node = h("div", { class: "week", role: "region", "aria-label": label, tabindex: "0" }, columns.map((column) => column.node));
  let seen;
  /** Moves the chosen day into sight when it is another one. A person may move it away. */
  function follow(day, chosen) {
    const sought = node.checkVisibility() ? day : undefined;
    if (sought === seen) return;
    seen = sought;
    const [outer, inner] = [node, columns[chosen].node].map((each) => each.getBoundingClientRect());
    node.scrollLeft += Math.max(0, inner.right - outer.right) + Math.min(0, inner.left - outer.left);
  }
  /** `days` are `{ start, name, long, isToday, rows }`; `chosen` is the place of the one that a narrow window shows. */
  const show = (days, chosen) => {
    days.forEach(({ name, long, isToday, rows }, index) => {
      const column = columns[index];
      if (column.name.textContent !== name) column.name.textContent = name;
      column.name.title = long;
      column.node.toggleAttribute("data-today", isToday);
      column.node.toggleAttribute("data-chosen", index === chosen);
      column.list.setAttribute("aria-label", long);
      keyed(column.list, rows, make);
    });
    follow(days[chosen].start, chosen);
  };
  return { node, show };
}
