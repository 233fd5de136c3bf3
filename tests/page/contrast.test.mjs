// Colours that stand on each other can be told apart, in light and in dark: text by 4.5 to 1, edges
// of controls and the focus by 3 to 1.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const sheet = readFileSync(new URL("../../static/tokens.css", import.meta.url), "utf8");
const colours = new Map(
  [...sheet.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\)/g)].map(([, name, light, dark]) => [name, { light, dark }]),
);

function luminance(hex) {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const [red, green, blue] = channels.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a, b) {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const GROUNDS = ["paper", "surface", "sunken"];
const TEXT = [
  ...["ink", "muted", "accent", "danger", "warn"].flatMap((name) => GROUNDS.map((ground) => [name, ground])),
  ...["keyword", "string", "number", "title", "attribute", "builtin"].map((name) => [`code-${name}`, "sunken"]),
  ["on-accent", "accent"],
  ["accent", "accent-soft"],
  ["ink", "accent-soft"],
  ["danger", "danger-soft"],
  ["warn", "warn-soft"],
  ["paper", "ink"],
  ["paper", "warn"],
];
const CHARTS = [1, 2, 3, 4, 5, 6].map((number) => `chart-${number}`);
const EDGES = [...CHARTS, "control-line", "accent", "danger", "warn", "added"].flatMap((name) => GROUNDS.map((ground) => [name, ground]));

/** Pairs that are too close. */
function tooClose(pairs, least) {
  return pairs.flatMap(([front, back]) =>
    ["light", "dark"]
      .map((theme) => [theme, contrast(colours.get(front)[theme], colours.get(back)[theme])])
      .filter(([, ratio]) => ratio < least)
      .map(([theme, ratio]) => `${front} on ${back}, ${theme}: ${ratio.toFixed(2)}`),
  );
}

test("text_can_be_read_on_what_it_stands_on", () => {
  assert.ok(colours.size > 20);
  assert.equal(contrast("#000000", "#ffffff").toFixed(0), "21");
  assert.deepEqual(tooClose(TEXT, 4.5), []);
});

test("edges_of_controls_and_the_focus_can_be_seen", () => {
  assert.deepEqual(tooClose(EDGES, 3), []);
});
