// Days and weeks in the reader's zone. Pure, but for the language that says on which day a week
// begins.

import { locale } from "../core/words.js";

const MORNING = 9;
const MONDAY = 1;

/** The day a week begins with where this language is spoken: 1 is Monday, 7 is Sunday. */
export function firstDayOfWeek(language = locale) {
  try {
    const locale = new Intl.Locale(language);
    return (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? MONDAY;
  } catch {
    return MONDAY;
  }
}

/** The midnight that begins the day of `at` (milliseconds), or that of some days later. */
export function dayStart(at, later = 0) {
  const day = new Date(at);
  // By the calendar: a day on which the clock is changed has 23 or 25 hours.
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + later).getTime();
}

/** The seven days of the week that `at` is in, each by its midnight, and behind them the midnight that ends it. */
export function weekOf(at, first = firstDayOfWeek()) {
  const back = (new Date(at).getDay() - first + 7) % 7;
  return Array.from({ length: 8 }, (_, index) => dayStart(at, index - back));
}

/** When a task is due (ISO 8601) if it is moved to the day of `day`: at its own time of day, or in the morning, but never in the past. */
export function movedTo(dueAt, day, now) {
  const old = new Date(dueAt ?? Number.NaN);
  const isDated = !Number.isNaN(old.getTime());
  const to = new Date(day);
  to.setHours(isDated ? old.getHours() : MORNING, isDated ? old.getMinutes() : 0, 0, 0);
  if (to.getTime() <= now && dayStart(day) === dayStart(now)) {
    to.setTime(now);
    to.setHours(to.getHours() + 1, 0, 0, 0);
  }
  return to.toISOString();
}

/** The same if it is moved by some days; one without a date is moved from today. */
export function movedBy(dueAt, days, now) {
  const at = Date.parse(dueAt ?? "");
  return movedTo(dueAt, dayStart(Number.isNaN(at) ? now : at, days), now);
}

/** A time (ISO 8601) as the field for a date and a time has it; empty if there is none. */
export function fieldOfTime(dueAt) {
  const at = new Date(dueAt ?? Number.NaN);
  if (Number.isNaN(at.getTime())) return "";
  const two = (number) => String(number).padStart(2, "0");
  return `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The time in such a field, as ISO 8601; empty if nothing stands in it. */
export function timeOfField(text) {
  const at = new Date(text);
  return text === "" || Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

/** The day that an address names (`2026-11-23`), by its midnight; nothing if it names none. */
export function dayOfName(name) {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(name ?? "") ?? [];
  const at = new Date(Number(year), Number(month) - 1, Number(day));
  return year && at.getDate() === Number(day) ? at.getTime() : undefined;
}

/** The name of a day for an address. */
export const nameOfDay = (at) => fieldOfTime(new Date(at).toISOString()).slice(0, 10);
