// Which columns of rows can be drawn, and the points of a chart. Pure.

import { shortDay, timeOfDay, writer } from "../core/times.js";
import { locale } from "../core/words.js";
import { cellText, timeOf } from "./table-text.js";

/** The most points of a line, and the most bars. */
export const MOST_POINTS = 5000;
const MOST_BARS = 30;
const DAY_SECONDS = 86_400;
const toTheSecond = writer({ timeStyle: "medium" });
/** As many lines can be told apart. */
export const MOST_SERIES = 6;

/** The columns that can stand across and up: `{ xs, ys }`, or `undefined` if there is nothing to draw. Ids are no measure of anything. */
export function chartable({ columns, rows }) {
  if (rows.length < 2 || rows.length > MOST_POINTS) return undefined;
  const all = columns.map((column, index) => ({ ...column, index }));
  const ys = all.filter(({ kind, id, index }) => kind === "number" && !id && rows.some((row) => isNumber(row[index])));
  const dates = all.filter(({ kind, index }) => (kind === "date" || kind === "stamp") && rows.every((row) => timeOf(row[index]) !== undefined));
  const labels = rows.length > MOST_BARS ? [] : all.filter(({ kind, id, index }) => isLabel(kind, id) && rows.some((row) => row[index] !== null));
  const xs = [...dates, ...labels];
  return xs.length > 0 && ys.length > 0 ? { xs, ys } : undefined;
}

const isLabel = (kind, id) => (kind === "text" && !id) || kind === "bool";
const isNumber = (value) => value !== null && value !== undefined && Number.isFinite(Number(value));

/**
 * The chart of these columns (numbers of columns): `{ kind: "line" | "bars", x, series: [{ name, values }], labels }`. `x` are seconds of dates in
 * rising order, or the places of the bars, whose names are `labels`. An empty value is a gap.
 */
export function chartOf({ columns, rows }, x, ys, now) {
  const column = columns[x];
  const isLine = column.kind === "date" || column.kind === "stamp";
  const order = rows.map((row, index) => [isLine ? timeOf(row[x]) / 1000 : index, row]);
  if (isLine) order.sort(([a], [b]) => a - b);
  const number = (value) => (isNumber(value) ? Number(value) : null);
  return {
    kind: isLine ? "line" : "bars",
    x: order.map(([at]) => at),
    labels: isLine ? undefined : rows.map((row) => cellText(row[x], column, now).text),
    series: ys.slice(0, MOST_SERIES).map((y) => ({ name: columns[y].name, values: order.map(([, row]) => number(row[y])) })),
  };
}

const figures = new Intl.NumberFormat(locale, { maximumSignificantDigits: 12 });

/** The figures beside a chart at `splits`, which are `step` apart: sums of doubles, of which each stands for a multiple of it. */
export function figuresBeside(splits, step) {
  return splits.map((at) => {
    const value = Number((Math.round(at / step) * step).toPrecision(12)) + 0;
    const size = Math.abs(value);
    return value === 0 || (size >= 1e-6 && size < 1e15) ? figures.format(value) : value.toExponential().replace("e+", "e");
  });
}

/** The words under a line at `splits`, seconds that are `step` apart: days, or within a day the time, and below it each day that begins. */
export function timesUnder(splits, step, now) {
  const days = splits.map((at) => shortDay(at * 1000, now));
  if (step >= DAY_SECONDS) return days;
  const time = step < 60 ? toTheSecond : timeOfDay;
  return splits.map((at, index) => time(at * 1000) + (days[index] === days[index - 1] ? "" : `\n${days[index]}`));
}
