// Times in words. Pure functions; nothing here touches the DOM.

import { decimal } from "./numbers.js";
import { locale, words } from "./words.js";

/** Makes a writer of times in the page's language, once: to make one costs as much as to write a hundred times. */
export function writer(options) {
  let format;
  return (at) => (format ??= new Intl.DateTimeFormat(locale, options)).format(at);
}

const DAY = { day: "numeric", month: "short" };
const whole = writer({ dateStyle: "medium", timeStyle: "short" });
// Each language writes the hour in its own way: 9:05 AM, 09:05.
const hours = writer({ timeStyle: "short" });
const day = writer(DAY);
const dayAndYear = writer({ ...DAY, year: "numeric" });

/** An ISO 8601 time in full, in the local time zone, for the title of a shorter one; anything else as it is. */
export function localTime(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? String(text) : whole(at);
}

/** The same as a person reads it in every place: “22 Nov, 14:05”, with the year if it is another than this one's. */
export function shortTime(text, now = Date.now()) {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return String(text);
  return `${shortDay(at, now)}, ${hours(at)}`;
}

/** Its day, with the year if it is another than this one's. */
export function shortDay(text, now = Date.now()) {
  const at = new Date(text);
  return (at.getFullYear() === new Date(now).getFullYear() ? day : dayAndYear)(at);
}

/** Its time of day. */
export function timeOfDay(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? String(text) : hours(at);
}

function spanOf(seconds) {
  const size = Math.abs(seconds);
  if (size < 60) return `${size} s`;
  if (size < 3600) return `${Math.round(size / 60)} min`;
  return size < 172_800 ? `${Math.round(size / 3600)} h` : words.short.days(Math.round(size / 86_400));
}

/** The line under a waiting approval. `expiresAt` is ISO 8601, `now` in milliseconds. */
export function expiryLine(expiresAt, now) {
  const at = Date.parse(expiresAt);
  if (Number.isNaN(at)) return "";
  // Only the server decides that the time is over; its clock may differ from this one's.
  if (at <= now) return words.law.over;
  return words.law.until(spanOf(Math.ceil((at - now) / 1000)), shortTime(expiresAt, now));
}

/** The time of day of something today, else the day as well; `now` in milliseconds. */
export function clockTime(text, now) {
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return "";
  return at.toDateString() === new Date(now).toDateString() ? hours(at) : shortTime(at, now);
}

/** Milliseconds as a person reads them: 4 ms, 1.2 s, 3 min 5 s. */
export function duration(ms) {
  if (typeof ms !== "number" || !(ms >= 0)) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${decimal(ms / 1000, ms < 9950 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1000);
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`;
}
