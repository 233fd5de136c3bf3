// The rules of the house for `static/`: who may import whom, how long a file may be, and where
// colours, sizes and radii stand.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const STATIC = fileURLToPath(new URL("../../static", import.meta.url));
const SHARED = ["core", "ui", "vendor", "words"];
const files = readdirSync(STATIC, { recursive: true })
  .filter((path) => /\.(js|css)$/.test(path) && !path.startsWith("vendor"))
  .map((path) => ({ path, text: readFileSync(join(STATIC, path), "utf8") }));

/** Imports of a file that its folder may not have. The shell names the places; nobody else knows another folder than the shared ones. */
function wrongImports({ path, text }) {
  const own = path.split("/")[0];
  const allowed = { core: ["core", "words"], ui: ["ui", "core", "vendor"], words: ["words"] }[own] ?? [own, ...SHARED];
  return [...text.matchAll(/(?:from |import |import\(|styles\(import\.meta\.url, |, )"(\.\.?\/[^"]+)"/g)]
    .map(([, target]) => normalize(join(dirname(path), target)))
    .filter((target) => !allowed.includes(target.split("/")[0]))
    .filter((target) => path !== "shell/places.js" || !target.endsWith("/index.js"))
    .map((target) => `${path} imports ${target}`);
}

const TOKENS = readFileSync(join(STATIC, "tokens.css"), "utf8");
/** The widths at which the page changes: a query cannot read a token, so the head of `tokens.css` has their list. */
const BREAKPOINTS = /Breakpoints: ((?:\d+rem ?)+);/.exec(TOKENS)[1].split(" ");
/** The conditions of queries that may be written out: at most a breakpoint, or a hundredth more than one. */
const CONDITIONS = new RegExp(`\\((?:${BREAKPOINTS.flatMap((width) => [`max-width: ${width}`, `min-width: ${width.replace("rem", "\\.01rem")}`]).join("|")})\\)`, "g");
/** A number with a unit is a size or a duration, whatever the unit. Zero is none, nor is a share, an angle, or the `3n` of a selector. */
const SIZE = /(?<![\w.#-])[+-]?(?=[\d.]*[1-9])(?:\d*\.)?\d+(?!(?:fr|deg|n)\b)[a-z]+\b/gi;
const IN_SHEETS = [
  SIZE,
  /#[0-9a-f]{3,8}\b(?![\w-]*\s*[{,])|\b(?:rgb|hsl|oklch)\(/gi,
  /(?:font-size|border-radius):[^;}]*[1-9]\d*%/g,
  /(?:font-weight|stroke-width):\s*[\d.]+/g,
  /line-height:\s*\d*\.\d+|font:[^;]*\/\d*\.\d+/g,
];
/** A module has numbers of its own; `12px` in its text is a value of the look. */
const IN_MODULES = [/(?<![\w.#-])(?:\d*\.)?\d+(?:px|r?em|[dls]?v[hw])\b/g];

/** Values that stand in `tokens.css` and nowhere else. */
function writtenOut({ path, text }) {
  const isSheet = path.endsWith(".css");
  const blank = (part) => part.replace(/[^\n]/g, " ");
  const code = text.replace(isSheet ? /\/\*[\s\S]*?\*\//g : /^\s*(?:\/\/|\/?\*).*$/gm, blank).replace(CONDITIONS, blank);
  return (isSheet ? IN_SHEETS : IN_MODULES)
    .flatMap((value) => [...code.matchAll(value)])
    .map(({ 0: value, index }) => `${path}:${code.slice(0, index).split("\n").length}: ${value}`);
}

test("a_place_imports_only_itself_and_what_is_for_all", () => {
  assert.ok(files.length > 50, "the files were found");
  assert.deepEqual(files.flatMap(wrongImports), []);
  assert.equal(wrongImports({ path: "tasks/x.js", text: 'import { a } from "../chat/view.js";' }).length, 1, "the rule can fail");
  assert.equal(wrongImports({ path: "tasks/x.js", text: 'await styles(import.meta.url, "a.css", "../chat/b.css")' }).length, 1);
});

test("every_value_of_the_look_stands_in_one_file", () => {
  const others = files.filter(({ path }) => path !== "tokens.css");
  assert.ok(others.filter(({ path }) => path.endsWith(".css")).length > 8);
  assert.deepEqual(others.flatMap(writtenOut), []);
  const sheet = (text) => writtenOut({ path: "x.css", text });
  assert.equal(sheet("a { color: #fff; font-size: 13px; border-radius: 50%; font-weight: 600; line-height: 1.5; stroke-width: 2 }\nb { font: 400 1rem/1.6 serif; line-height: 0 }").length, 8);
  assert.deepEqual(sheet("/* 1px\n2px */\na {\n  margin: -.5em calc(1px + 50%);\n  animation: b 1.2s }"), ["x.css:4: -.5em", "x.css:4: 1px", "x.css:5: 1.2s"]);
  assert.deepEqual(sheet("@media (max-width: 40rem) and (min-width: 30rem) {}\n@media (min-width: 40rem) {}\n@media (width < 64rem) {}"), ["x.css:1: 30rem", "x.css:2: 40rem", "x.css:3: 64rem"]);
  assert.deepEqual(sheet("a:nth-child(3n + 1) { margin: 0 var(--space-4) 0s; width: 50%; rotate: 45deg; grid-template-columns: 2fr 1fr; line-height: 1 }"), []);
  assert.deepEqual(writtenOut({ path: "x.js", text: '// 1px\nmatchMedia("(min-width: 40.01rem)");\nmatchMedia("(min-width: 41rem)");\nfont = "12px serif" + `${height}px`;' }), ["x.js:3: 41rem", "x.js:4: 12px"]);
});

/** Tokens that no style uses. */
function unused(sheet, all) {
  const used = new Set(all.flatMap(({ text }) => [...text.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name)));
  return [...new Set([...sheet.matchAll(/[\s{;](--[\w-]+):/g)].map(([, name]) => name))].filter((name) => !used.has(name));
}

test("every_token_is_used", () => {
  assert.deepEqual(unused(TOKENS, files), []);
  assert.deepEqual(unused(":root { --a: 0; --b-1: 0; }", [{ text: "a { top: var(--b-1); left: var(--a-1) }" }]), ["--a"]);
});

test("every_token_that_is_used_is_there", () => {
  const tokens = new Set(files.flatMap(({ text }) => [...text.matchAll(/(?<!\()(--[\w-]+)(?=\s*:|",)/g)].map(([, name]) => name)));
  const used = files.flatMap(({ path, text }) => [...text.matchAll(/var\((--[\w-]+)(?!\s*[\w-]*,)\)/g)].map(([, name]) => [path, name]));
  assert.ok(used.length > 300);
  assert.deepEqual(used.filter(([, name]) => !tokens.has(name)), []);
});

/** Sides named left and right, or four values of which the second and the last differ: where text runs from right to left they would not turn. */
function namedSides({ path, text }) {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
  const named = [...code.matchAll(/[\s{;]((?:margin|padding|border|inset|scroll-margin|scroll-padding)-(?:left|right)|border-(?:top|bottom)-(?:left|right)-radius|left|right|float):/g), ...code.matchAll(/text-align:\s*(?:left|right)/g)];
  const four = [...code.matchAll(/[\s{;](margin|padding|inset):\s*([^;{}]+);/g)].filter(([, , values]) => {
    const parts = values.match(/(?:[^\s(]|\((?:[^()]|\([^()]*\))*\))+/g) ?? [];
    return parts.length === 4 && parts[1] !== parts[3];
  });
  return [...named, ...four].map(([value]) => `${path}: ${value.trim()}`);
}

test("no_sheet_names_left_or_right", () => {
  const sheets = files.filter(({ path }) => path.endsWith(".css"));
  assert.ok(sheets.length > 8);
  assert.deepEqual(sheets.flatMap(namedSides), []);
  assert.equal(namedSides({ path: "x.css", text: "a { left: 0; padding: 1px var(--a) 0 calc(1px + var(--b)); text-align: right; margin-left: 2px }\nb { margin: 0 auto 1px auto; inset-inline-start: 0 }" }).length, 4);
});

/** Rules for the neighbour of anything, such as `* + *`: each element that comes or goes has its neighbours looked at anew, with all in them. */
const neighbours = ({ path, text }) => [...text.matchAll(/(?<=^|[\s>(,}])\*\s*[+~]\s*[^\s{]*|[+~]\s*\*(?=[\s{,:)])/gm)].map(([rule]) => `${path}: ${rule}`);

test("no_sheet_has_a_rule_for_the_neighbour_of_anything", () => {
  assert.deepEqual(files.filter(({ path }) => path.endsWith(".css")).flatMap(neighbours), []);
  assert.equal(neighbours({ path: "x.css", text: ".a > * + * { margin: 0 }\n.b + * { margin: 0 }\n.c { width: calc(2 * var(--a) + 1px) }" }).length, 2);
});

test("no_file_is_too_long_to_be_read", () => {
  const lines = ({ text }) => text.split("\n").length - 1;
  assert.deepEqual(files.filter((file) => lines(file) > 250).map(({ path }) => path), []);
});

/**
 * Sentences and names of several words for a person, which stand in `words/`; those of the page on which one signs in are in a file of its own,
 * since a stranger is sent nothing else. Words that only a developer reads may stand where they are said.
 */
function writtenWords({ path, text }) {
  const lines = text.split("\n").filter((line) => !/^\s*(\/\/|\*|\/\*)|console\.(error|warn)/.test(line));
  return lines.flatMap((line) => [...line.matchAll(/(["`])([A-Z][a-z’']*,? [a-z$][^"`]*)\1/g)].map(([, , words]) => `${path}: ${words}`));
}

test("the_words_of_the_page_stand_in_one_folder", () => {
  const modules = files.filter(({ path }) => !path.startsWith("words/") && path !== "sign-in/words.js" && path.endsWith(".js"));
  assert.ok(modules.length > 120);
  assert.deepEqual(modules.flatMap(writtenWords), []);
  assert.deepEqual(writtenWords({ path: "x.js", text: '// "Not this one"\nh("p", {}, "This one is", "A short one");\nconsole.error("Nor this");' }), ["x.js: This one is", "x.js: A short one"]);
});

/** Dates and numbers in the language of the browser, or of nobody: a page that a person reads in another one would be in both. */
const browsersOwn = ({ path, text }) => [...text.matchAll(/Intl\.\w+\(undefined|\.toLocale(?:Date|Time)?String\((?:\)|undefined)|\.toFixed\(/g)].map(([call]) => `${path}: ${call}`);

test("dates_times_and_numbers_follow_the_language_of_the_page", () => {
  assert.deepEqual(files.filter(({ path }) => path.endsWith(".js")).flatMap(browsersOwn), []);
  assert.equal(browsersOwn({ path: "x.js", text: "at.toLocaleString(); at.toLocaleDateString(undefined, {}); new Intl.NumberFormat(undefined); n.toLocaleString(locale); Intl.DateTimeFormat(); n.toFixed(1)" }).length, 4);
});

/** Lines within a text over several lines that look like a comment: the server would leave them out (`src/http/page.rs`). */
function takenForComments({ path, text }) {
  const looksLike = /^[ \t]*(\/\/|\/\*)/;
  let ticks = 0;
  return text.split("\n").flatMap((line, index) => {
    if (looksLike.test(line) || /^[ \t]*\*/.test(line)) return ticks % 2 === 1 ? [`${path}:${index + 1}`] : [];
    ticks += line.replace(/\\.|"`"/g, "").split("`").length - 1;
    return [];
  });
}

test("no_text_of_a_module_looks_like_a_comment", () => {
  const modules = files.filter(({ path }) => path.endsWith(".js"));
  assert.deepEqual(modules.flatMap(takenForComments), []);
  assert.deepEqual(takenForComments({ path: "x.js", text: "const a = `\n// not a comment\n`;\n// `one\nconst b = `\n  /* nor this */`;" }), ["x.js:2", "x.js:6"]);
});
