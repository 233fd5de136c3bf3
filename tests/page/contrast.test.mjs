// Colours that stand on each other can be told apart, in light and in dark: text by 4.5 to 1, edges
// of controls and the focus by 3 to 1. Those of charts also by people who see red and green alike.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const sheet = readFileSync(new URL("../../static/tokens.css", import.meta.url), "utf8");
const colours = new Map(
  [...sheet.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\)/g)].map(([, name, light, dark]) => [name, { light, dark }]),
);

/** The light of each channel, from 0 to 1. */
function linear(hex) {
  const channels = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  return channels.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
}

function luminance(hex) {
  const [red, green, blue] = linear(hex);
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

/** How people see who have no cones for red, or none for green, in linear light: Machado, Oliveira and Fernandes 2009, severity 1. */
const EYES = {
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
};

/** CIELAB of linear light, at D65. */
function lab([red, green, blue]) {
  const eased = (value) => (value > 216 / 24389 ? Math.cbrt(value) : ((24389 / 27) * value + 16) / 116);
  const x = eased((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047);
  const y = eased(0.2126729 * red + 0.7151522 * green + 0.072175 * blue);
  const z = eased((0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** How far two colours are from each other for these eyes, by CIE 1976. */
function apart(a, b, eyes) {
  const [one, other] = [a, b].map((hex) => {
    const light = linear(hex);
    return lab(eyes.map((row) => Math.min(1, Math.max(0, row.reduce((sum, share, index) => sum + share * light[index], 0)))));
  });
  return Math.hypot(...one.map((value, index) => value - other[index]));
}

test("colours_of_charts_are_told_apart_by_people_who_see_red_and_green_alike", () => {
  const pairs = CHARTS.flatMap((one, index) => CHARTS.slice(index + 1).map((other) => [one, other]));
  const alike = Object.entries(EYES).flatMap(([name, eyes]) =>
    ["light", "dark"].flatMap((theme) =>
      pairs
        .map(([one, other]) => [one, other, apart(colours.get(one)[theme], colours.get(other)[theme], eyes)])
        .filter(([, , distance]) => distance < 10)
        .map(([one, other, distance]) => `${one} and ${other}, ${theme}, ${name}: ${distance.toFixed(1)}`),
    ),
  );
  assert.deepEqual(alike, []);
  assert.equal(pairs.length, 15);
  // White is white to all, and colours that were told apart by red alone are close.
  assert.ok(Object.values(EYES).every((eyes) => apart("#ffffff", "#000000", eyes) > 99));
  assert.ok(apart("#0b5fa5", "#6b3fa0", EYES.protanopia) < 10, "the first colours of this page were");
});

test("edges_of_controls_and_the_focus_can_be_seen", () => {
  assert.deepEqual(tooClose(EDGES, 3), []);
});
