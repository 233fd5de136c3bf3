// Numbers for people, written as the page's language writes them. Pure functions; nothing here
// touches the DOM.

import { locale, words } from "./words.js";

const writers = new Map();

/** A number with so many places behind its point, which some languages write as a comma. */
export function decimal(number, places) {
  if (!writers.has(places)) writers.set(places, new Intl.NumberFormat(locale, { minimumFractionDigits: places, maximumFractionDigits: places, useGrouping: false }));
  return writers.get(places).format(number);
}

/** A size for people. */
export function sizeOf(characters) {
  if (characters < 10_000) return words.short.characters(characters);
  return characters < 1_000_000 ? `${Math.round(characters / 1000)} kB` : `${decimal(characters / 1_000_000, 1)} MB`;
}

/** A count for a narrow column: 950, 34.1k, 2.2M. */
export function compactNumber(number) {
  if (number < 1000) return String(number);
  const [size, sign] = number < 999_500 ? [1000, "k"] : [1_000_000, "M"];
  return `${decimal(number / size, number / size < 99.95 ? 1 : 0)}${sign}`;
}

/** Millionths of a dollar as dollars; `null` is not zero but unknown. */
export function costText(micros) {
  if (micros === null || micros === undefined) return words.short.unknown;
  if (micros === 0) return "$0";
  const dollars = micros / 1_000_000;
  return dollars < 0.0001 ? `< $${decimal(0.0001, 4)}` : `$${decimal(dollars, dollars < 0.1 ? 4 : 2)}`;
}
