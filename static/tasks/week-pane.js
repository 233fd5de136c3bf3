// The tasks of a week, day by day; what has no date, and what is overdue from before, stands under
// it.

import { h, keyed } from "../core/dom.js";
import { writer } from "../core/times.js";
import { locale } from "../core/words.js";
import { button, iconButton } from "../ui/button.js";
import { weekView } from "../ui/week.js";
import { dayStart, nameOfDay, weekOf } from "./days.js";
import { byDay, groupOf } from "./grouping.js";
import { groupSection, makeTask, rowOf } from "./list.js";
import { tasks as said } from "./words.js";

const NARROW = "(max-width: 40rem)";
const shortName = writer({ weekday: "short", day: "numeric" });
const longName = writer({ weekday: "long", day: "numeric", month: "long" });
const oneName = writer({ weekday: "short", day: "numeric", month: "long" });

/** The week: `{ node, show(tasks, now, day) }`; `go(day)` goes to the week of a day by its name, or to this week. */
export function weekPane(go) {
  const week = weekView(makeTask, said.weekView);
  // The one day that a narrow window shows, and the week of others: each is hidden by the sheet
  // where the other is meant.
  const [oneDay, wholeWeek] = ["one-day", "whole-week"].map((name) => h("span", { class: name }));
  const title = h("h2", { "aria-live": "polite" }, oneDay, wholeWeek);
  let at = Date.now();
  // The buttons go to the next day if one is shown at a time.
  const step = (direction) => go(nameOfDay(dayStart(at, direction * (matchMedia(NARROW).matches ? 1 : 7))));
  const back = iconButton("back", said.before, () => step(-1), { "data-testid": "week-before" });
  const on = iconButton("forward", said.after, () => step(1), { "data-testid": "week-after" });
  const bar = h("div", { class: "week-bar" }, back, on, title, button(said.today, () => go(), { kind: "quiet", "data-testid": "week-now" }));
  const rest = new Map(["overdue", "undated"].map((group) => [group, groupSection(group)]));

  function show(tasks, now, day = now) {
    at = dayStart(day);
    const days = weekOf(day);
    const rows = byDay(tasks, days);
    const shown = rows.map((own, index) => ({
      start: days[index],
      name: shortName(days[index]),
      long: longName(days[index]),
      isToday: days[index] === dayStart(now),
      rows: own.map((task) => rowOf(task, true)),
    }));
    week.show(shown, days.indexOf(at));
    for (const [node, text] of [[oneDay, oneName(at)], [wholeWeek, rangeOf(days)]]) if (node.textContent !== text) node.textContent = text;
    const inWeek = new Set(rows.flat());
    for (const [group, { node, list }] of rest) {
      const own = tasks.open.filter((task) => !inWeek.has(task) && groupOf(task, now) === group);
      keyed(list, own.map((task) => rowOf(task)), makeTask);
      node.hidden = own.length === 0;
    }
  }
  return { node: h("div", { hidden: true, "data-testid": "task-week" }, bar, week.node, [...rest.values()].map(({ node }) => node)), show };
}

/** “16 – 22 November 2026” in the reader's way. */
function rangeOf(days) {
  const form = new Intl.DateTimeFormat(locale, { day: "numeric", month: "long", year: "numeric" });
  return form.formatRange(days[0], days[6]);
}
