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

/** Values that stand in `tokens.css` and nowhere else. */
function writtenOut({ path, text }) {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "");
  const found = [
    ...code.matchAll(/#[0-9a-f]{3,8}\b(?![\w-]*\s*[{,])|\b(?:rgb|hsl|oklch)\(/gi),
    ...code.matchAll(/font-size:\s*[\d.]+/g),
    ...code.matchAll(/border-radius:[^;]*[1-9][\d.]*(?:px|r?em|%)/g),
    ...code.matchAll(/font-weight:\s*\d+/g),
    ...code.matchAll(/line-height:\s*\d*\.\d+|font:[^;]*\/\d*\.\d+/g),
  ];
  return found.map(([value]) => `${path}: ${value}`);
}

test("a_place_imports_only_itself_and_what_is_for_all", () => {
  assert.ok(files.length > 50, "the files were found");
  assert.deepEqual(files.flatMap(wrongImports), []);
  assert.equal(wrongImports({ path: "tasks/x.js", text: 'import { a } from "../chat/view.js";' }).length, 1, "the rule can fail");
  assert.equal(wrongImports({ path: "tasks/x.js", text: 'await styles(import.meta.url, "a.css", "../chat/b.css")' }).length, 1);
});

test("every_value_of_the_look_stands_in_one_file", () => {
  const sheets = files.filter(({ path }) => path.endsWith(".css") && path !== "tokens.css");
  assert.ok(sheets.length > 8);
  assert.deepEqual(sheets.flatMap(writtenOut), []);
  assert.equal(writtenOut({ path: "x.css", text: "a { color: #fff; font-size: 13px; border-radius: 4px; font-weight: 600; line-height: 1.5 }\nb { font: 400 1rem/1.6 serif; line-height: 0 }" }).length, 6);
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
