// The rules of the house for `static/`: who may import whom, how long a file may be, and where
// colours, sizes, radii, icons, buttons and words stand.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import english from "../../static/words/en.js";

const STATIC = fileURLToPath(new URL("../../static", import.meta.url));
const files = readdirSync(STATIC, { recursive: true })
  .filter((path) => /\.(js|css)$/.test(path) && !path.startsWith("vendor"))
  .map((path) => ({ path, text: readFileSync(join(STATIC, path), "utf8") }));
const modules = files.filter(({ path }) => path.endsWith(".js"));
const sheets = files.filter(({ path }) => path.endsWith(".css"));
/** The same without its comments: each line stays where it is. */
const code = ({ path, text }) => text.replace(path.endsWith(".css") ? /\/\*[\s\S]*?\*\//g : /^\s*(?:\/\/|\/?\*).*$/gm, (part) => part.replace(/[^\n]/g, " "));

/** The folders that a file of one may import from: a place from the two that are for all, and from itself. Words come by `core/`. */
const MAY = { core: ["core", "words"], ui: ["ui", "core", "vendor"], words: ["words"] };
/** Other people's code that one place alone uses, and so loads itself. */
const VENDORED = { "chat/markdown.js": "dompurify", "chat/blocks.js": "marked", "voice/service.js": "daily-js" };

/** The reader of answers, which takes longest to begin its work: the shell begins it before Chat does. */
const BEGUN = "chat/markdown.js";

/** Imports of a file that its folder may not have. The shell names the places; nobody else knows another folder than the shared ones. */
function wrongImports({ path, text }) {
  const own = path.split("/")[0];
  const allowed = MAY[own] ?? [own, "core", "ui"];
  return [...text.matchAll(/(?:from |import |import\(|styles\(import\.meta\.url, |, )["`](\.\.?\/[^"`]+)["`]/g)]
    .map(([, target]) => normalize(join(dirname(path), target)))
    .filter((target) => !allowed.includes(target.split("/")[0]))
    .filter((target) => path !== "shell/places.js" || !target.endsWith("/index.js"))
    .filter((target) => path !== "shell/early.js" || target !== BEGUN)
    .filter((target) => !VENDORED[path] || !target.startsWith(`vendor/${VENDORED[path]}-`))
    .map((target) => `${path} imports ${target}`);
}

const TOKENS = readFileSync(join(STATIC, "tokens.css"), "utf8");
/** The widths at which the page changes: a query cannot read a token, so the head of `tokens.css` has their list. */
const BREAKPOINTS = /Breakpoints: ((?:\d+rem ?)+);/.exec(TOKENS)[1].split(" ");
/** The conditions of queries that may be written out: at most a breakpoint, or a hundredth more than one. */
const CONDITIONS = new RegExp(`\\((?:${BREAKPOINTS.flatMap((width) => [`max-width: ${width}`, `min-width: ${width.replace("rem", "\\.01rem")}`]).join("|")})\\)`, "g");
/** A number with a unit is a size or a duration, whatever the unit. Zero is none, nor is a share, an angle, or the `3n` of a selector. */
const SIZE = /(?<![\w.#-])[+-]?(?=[\d.]*[1-9])(?:\d*\.)?\d+(?!(?:fr|deg|n)\b)[a-z]+\b/gi;
/** Colours that have a name, as CSS has them; `transparent`, `currentcolor` and those of the system are none of ours. */
const NAMED = new RegExp(
  `(?<![\\w-])(?:${"aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgr[ae]y darkgreen darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen darkslateblue darkslategr[ae]y darkturquoise darkviolet deeppink deepskyblue dimgr[ae]y dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gr[ae]y green greenyellow honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan lightgoldenrodyellow lightgr[ae]y lightgreen lightpink lightsalmon lightseagreen lightskyblue lightslategr[ae]y lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategr[ae]y snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen".split(" ").join("|")})(?![\\w-])(?=[^{}]*[;}])`,
  "gi",
);
const COLOUR = /#[0-9a-f]{3,8}\b(?![\w-]*\s*[{,])|\b(?:rgba?|hsla?|hwb|(?:ok)?l(?:ab|ch)|color)\(/gi;
const IN_SHEETS = [
  SIZE,
  COLOUR,
  NAMED,
  /(?:font-size|border-radius):[^;}]*[1-9]\d*%/g,
  /(?:font-weight|stroke-width):\s*[\d.]+/g,
  /line-height:\s*\d*\.\d+|font:[^;]*\/\d*\.\d+/g,
];
/** A module has numbers of its own; `12px` in its text is a value of the look, and so is a colour. `#tasks` is an address. */
const IN_MODULES = [/(?<![\w.#-])(?:\d*\.)?\d+(?:px|r?em|[dls]?v[hw])\b/g, /(?<=["'`\s(,:])#(?:[0-9a-f]{3,4}){1,2}(?=["'`\s),;])/gi, /\b(?:rgba?|hsla?|hwb|oklab|oklch)\(/g];

/** Values that stand in `tokens.css` and nowhere else. */
function writtenOut({ path, text }) {
  const written = code({ path, text }).replace(CONDITIONS, (part) => part.replace(/[^\n]/g, " "));
  return (path.endsWith(".css") ? IN_SHEETS : IN_MODULES)
    .flatMap((value) => [...written.matchAll(value)])
    .map(({ 0: value, index }) => `${path}:${written.slice(0, index).split("\n").length}: ${value}`);
}

test("a_place_imports_only_itself_and_what_is_for_all", () => {
  assert.ok(files.length > 50, "the files were found");
  assert.deepEqual(files.flatMap(wrongImports), []);
  assert.equal(wrongImports({ path: "tasks/x.js", text: 'import { a } from "../chat/view.js";' }).length, 1, "the rule can fail");
  assert.equal(wrongImports({ path: "tasks/x.js", text: 'await styles(import.meta.url, "a.css", "../chat/b.css")' }).length, 1);
  assert.equal(wrongImports({ path: "tasks/x.js", text: 'import en from "../words/en.js";\nimport("../vendor/marked-18.2.1.esm.js");\nimport(`../words/${name}.js`);' }).length, 3, "words come by `core/`");
  assert.equal(wrongImports({ path: "chat/blocks.js", text: 'import "../vendor/marked-1.js";\nimport "../vendor/dompurify-1.js";' }).length, 1);
  for (const path of Object.keys(VENDORED)) assert.ok(wrongImports({ ...files.find((file) => file.path === path), path: "chat/x.js" }).some((found) => found.includes("vendor/")), `${path} needs no exception any more`);
});

/** The folders of `static/` that are no place: what is for all, the shell, the pages of their own, and calls, which live above the places. */
const NO_PLACES = ["core", "loopback", "shell", "sign-in", "ui", "vendor", "voice", "words"];

test("each_place_has_a_folder_and_each_folder_is_a_place", () => {
  const { text } = files.find(({ path }) => path === "shell/places.js");
  const places = [...text.matchAll(/\{ id: "([^"]+)"[^\n]* load: \(\) => import\("\.\.\/([^"]+)\/index\.js"\) \}/g)];
  assert.equal(places.length, text.split("{ id: ").length - 1, "each line was read");
  for (const [, id, folder] of places) {
    assert.equal(folder, id);
    const { text: index } = files.find(({ path }) => path === `${folder}/index.js`);
    for (const name of ["mount", "unmount"]) assert.match(index, new RegExp(`export (?:async )?(?:function|const) ${name}\\b`), `${folder} has ${name}`);
  }
  const folders = readdirSync(STATIC, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.deepEqual(folders.toSorted(), [...places.map(([, id]) => id), ...NO_PLACES].toSorted());
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
  assert.deepEqual(sheet("a { color: red; border: var(--edge) White }\n.red, a:hover { white-space: pre; color: var(--gray); fill: transparent }\nb { background: oklab(0 0 0) }"), ["x.css:3: oklab(", "x.css:1: red", "x.css:1: White"]);
  assert.deepEqual(writtenOut({ path: "x.js", text: 'draw("#1c6b5a", `1px solid #fff`, "rgb(0 0 0)"); go("#tasks"); go("#add/1");' }), ["x.js:1: 1px", "x.js:1: #1c6b5a", "x.js:1: #fff", "x.js:1: rgb("]);
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
  const written = code({ path, text });
  const named = [...written.matchAll(/[\s{;]((?:margin|padding|border|inset|scroll-margin|scroll-padding)-(?:left|right)|border-(?:top|bottom)-(?:left|right)-radius|left|right|float):/g), ...written.matchAll(/text-align:\s*(?:left|right)/g)];
  const four = [...written.matchAll(/[\s{;](margin|padding|inset):\s*([^;{}]+);/g)].filter(([, , values]) => {
    const parts = values.match(/(?:[^\s(]|\((?:[^()]|\([^()]*\))*\))+/g) ?? [];
    return parts.length === 4 && parts[1] !== parts[3];
  });
  return [...named, ...four].map(([value]) => `${path}: ${value.trim()}`);
}

test("no_sheet_names_left_or_right", () => {
  assert.ok(sheets.length > 8);
  assert.deepEqual(sheets.flatMap(namedSides), []);
  assert.equal(namedSides({ path: "x.css", text: "a { left: 0; padding: 1px var(--a) 0 calc(1px + var(--b)); text-align: right; margin-left: 2px }\nb { margin: 0 auto 1px auto; inset-inline-start: 0 }" }).length, 4);
});

/** Rules for the neighbour of anything, such as `* + *`: each element that comes or goes has its neighbours looked at anew, with all in them. */
const neighbours = ({ path, text }) => [...text.matchAll(/(?<=^|[\s>(,}])\*\s*[+~]\s*[^\s{]*|[+~]\s*\*(?=[\s{,:)])/gm)].map(([rule]) => `${path}: ${rule}`);

test("no_sheet_has_a_rule_for_the_neighbour_of_anything", () => {
  assert.deepEqual(sheets.flatMap(neighbours), []);
  assert.equal(neighbours({ path: "x.css", text: ".a > * + * { margin: 0 }\n.b + * { margin: 0 }\n.c { width: calc(2 * var(--a) + 1px) }" }).length, 2);
});

test("no_file_is_too_long_to_be_read", () => {
  const lines = ({ text }) => text.split("\n").length - 1;
  assert.deepEqual(files.filter((file) => lines(file) > 250).map(({ path }) => path), []);
});

/** Strings of one word that belong to no language: keys, programs and systems, a type of the browser, and how languages call themselves. */
const NAMES = new Set("Enter Escape Esc Tab Delete Alt Ctrl Shift Files English Português Chrome Edg Edge Firefox Opera Safari Android Linux Windows".split(" "));
/** Labels that are nobody's words: the name of the program, of a value of SQL, and how an address begins. */
const SIGNS = /\blevel3\b|\bNULL\b|https:\/\//g;
const LABEL = /(?:"aria-(?:label|description|roledescription|valuetext)"|\b(?:title|placeholder|alt)): $|\b(?:textContent|innerText|title|placeholder|ariaLabel) = $/;
/** The words that make a sentence of small letters one, and no list of classes. */
const SMALL_WORDS = /(?<![\w:-])(?:the|is|are|was|were|has|have|had|not|cannot|could|and|to|of|for|with|this|that|it|you|your|there)(?![\w-])/;

/**
 * Words for a person, which stand in `words/`; those of the page on which one signs in are in a file of its own, since a stranger is sent nothing
 * else. Words that only a developer reads may stand where they are said: those of the console, and of faults of the page itself.
 */
function writtenWords({ path, text }) {
  return code({ path, text }).split("\n").flatMap((line) => [...line.matchAll(/(["`])((?:\\.|(?!\1)[^\\])*)\1/g)]
    .filter(({ index }) => !/(?:console\.\w+|new TypeError)\($/.test(line.slice(0, index)))
    .filter(({ 2: written, index }) => {
      const [before, said] = [line.slice(0, index), written.replace(/\$\{[^}]*\}/g, "…")];
      const isShown = LABEL.test(before) || /\bh\(.*\}, $/.test(before);
      return /^[A-Z][a-z’']*,? [a-z…]/.test(said)
        || (/^\p{Lu}[\p{Ll}’']+[.…!?:]?$/u.test(said) && !NAMES.has(said))
        || (/\s/.test(said) && SMALL_WORDS.test(said))
        || (isShown && /\p{L}{2}/u.test(said.replace(SIGNS, "")));
    })
    .map(({ 2: words }) => `${path}: ${words}`));
}

test("the_words_of_the_page_stand_in_one_folder", () => {
  const others = modules.filter(({ path }) => !path.startsWith("words/") && path !== "sign-in/words.js");
  assert.ok(others.length > 120);
  assert.deepEqual(others.flatMap(writtenWords), []);
  const found = (text) => writtenWords({ path: "x.js", text }).map((line) => line.replace("x.js: ", ""));
  assert.deepEqual(found('// "Not this one"\nh("p", {}, "This one is", "A short one");\nconsole.error("Nor this"); throw new TypeError("and that is not");'), ["This one is", "A short one"]);
  assert.deepEqual(found('button("Save", act); h("b", {}, "rows"); h("i", { title: `${n} rows` }); node.textContent = "none";'), ["Save", "rows", "${n} rows", "none"]);
  assert.deepEqual(found('say("it could not be read"); say(`${name} is not there`); h("p", { class: "none later" }, said); node.title = "level3"; key === "Enter";'), ["it could not be read", "${name} is not there"]);
});

/** The words that stand in a page before a module runs, and those of a page without any, which has one language. */
const WITHOUT_SCRIPTS = "This page needs JavaScript. Everything it loads comes from this server.";

/** Texts of a page or a sheet that are neither in `words/` nor known above. */
function textsOf({ path, text }) {
  if (path.endsWith(".css")) return [...code({ path, text }).matchAll(/content:\s*"([^"]*\p{L}[^"]*)"/gu)].map(([, words]) => `${path}: ${words}`);
  const body = text.replace(/<!--[\s\S]*?-->/g, "");
  const labels = [...body.matchAll(/\s(?:aria-label|title|alt|placeholder)="([^"]+)"/g)].map(([, words]) => words);
  const shown = [...body.matchAll(/>([^<]*\p{L}[^<]*)</gu)].map(([, words]) => words.trim());
  return [...labels, ...shown].filter((words) => !["level3", WITHOUT_SCRIPTS, english.skip].includes(words)).map((words) => `${path}: ${words}`);
}

test("a_page_and_a_sheet_have_no_words_of_their_own", () => {
  const pages = readdirSync(STATIC, { recursive: true }).filter((path) => path.endsWith(".html")).map((path) => ({ path, text: readFileSync(join(STATIC, path), "utf8") }));
  assert.equal(pages.length, 3);
  assert.deepEqual([...pages, ...sheets].flatMap(textsOf), []);
  assert.ok(modules.some(({ text }) => text.includes("textContent = words.skip")), "the way past the rail is said anew in the language that is shown");
  assert.deepEqual(textsOf({ path: "x.html", text: '<title>level3</title><a title="Go">Skip</a><p> </p>' }), ["x.html: Go", "x.html: Skip"]);
  assert.deepEqual(textsOf({ path: "x.css", text: 'a::after { content: "→" }\nb::before { content: "New" }' }), ["x.css: New"]);
});

/** Each word with the kind of thing it is, by the way there. */
const kindsOf = (value, way) => (typeof value === "object" && !Array.isArray(value) ? Object.entries(value).flatMap(([name, each]) => kindsOf(each, `${way}.${name}`)) : [`${way}: ${Array.isArray(value) ? `list of ${value.length}` : typeof value}`]);

test("both_languages_have_every_word", async () => {
  const names = readdirSync(join(STATIC, "words")).filter((name) => name.startsWith("en")).map((name) => name.slice(2));
  assert.ok(names.length > 15);
  assert.deepEqual(readdirSync(join(STATIC, "words")).filter((name) => name.startsWith("pt")).map((name) => name.slice(2)), names);
  for (const name of names) {
    const [en, pt] = await Promise.all(["en", "pt"].map(async (language) => kindsOf((await import(`../../static/words/${language}${name}`)).default, name)));
    assert.deepEqual(pt.toSorted(), en.toSorted(), name);
  }
  assert.deepEqual(kindsOf({ a: { b: "x", c: () => "x" }, d: ["x"] }, ""), [".a.b: string", ".a.c: function", ".d: list of 1"]);
});

/** Drawings outside the one set. */
const drawings = ({ path, text }) => [...code({ path, text }).matchAll(/["'`]M\s*-?[\d.]+[\s,-]*[\d.]+\s*[a-zA-Z][^"'`]*["'`]|<path\b/g)].map(([found]) => `${path}: ${found}`);
/** The files that may hold some: the set, its later part, and the list of places, each of which may bring a mark of its own. */
const WITH_ICONS = ["ui/icons.js", "ui/icons-more.js", "shell/places.js"];

test("every_icon_stands_in_the_one_set", () => {
  assert.deepEqual(modules.filter(({ path }) => !WITH_ICONS.includes(path)).flatMap(drawings), []);
  for (const name of WITH_ICONS) assert.ok(drawings(files.find(({ path }) => path === name)).length >= 3, name);
  assert.equal(drawings({ path: "x.js", text: 'const A = "M5 5l10 10M15 5L5 15";\nnode.innerHTML = `<path d="M1 1">`;\nconst b = `M${x} ${y}h1v1h-1z`, c = "M1";' }).length, 2);
});

/** Buttons that are made by hand, outside `ui/`. */
const rawButtons = ({ path, text }) => [...code({ path, text }).matchAll(/\bh\(\s*"button"|createElement\("button"\)/g)].map(() => path);
/** Those that cannot be a button of `ui/button.js`, and why. */
const SPECIAL = {
  "chat/composer.js": "Send submits the form that it stands in, and Enter does the same",
  "shell/banners.js": "the words of the button that folds follow from how it stands",
  "shell/rail.js": "More looks and is placed as the links beside it are",
};

test("a_button_is_the_one_of_ui", () => {
  const found = modules.filter(({ path }) => !path.startsWith("ui/")).flatMap(rawButtons);
  assert.deepEqual(found.toSorted(), Object.keys(SPECIAL).toSorted(), "one in each of these");
  assert.equal(rawButtons({ path: "x.js", text: '// h("button")\nh("button", {});\nh(\n  "button", {});\nbutton("x");' }).length, 2);
});

/** Dates and numbers in the language of the browser, or of nobody: a page that a person reads in another one would be in both. */
const browsersOwn = ({ path, text }) => [...text.matchAll(/Intl\.\w+\(undefined|\.toLocale(?:Date|Time)?String\((?:\)|undefined)|\.toFixed\(/g)].map(([call]) => `${path}: ${call}`);

test("dates_times_and_numbers_follow_the_language_of_the_page", () => {
  assert.deepEqual(modules.flatMap(browsersOwn), []);
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
  assert.deepEqual(modules.flatMap(takenForComments), []);
  assert.deepEqual(takenForComments({ path: "x.js", text: "const a = `\n// not a comment\n`;\n// `one\nconst b = `\n  /* nor this */`;" }), ["x.js:2", "x.js:6"]);
});

/** Rules that give the accent to something that is over: it is muted, as the accent is for what runs. */
const shoutsDone = ({ path, text }) =>
  [...code({ path, text }).matchAll(/([^{}]*="(?:done|completed)"[^{}]*)\{([^{}]*)\}/gi)].filter(([, , body]) => /var\(--(?:accent|added)/.test(body)).map(([, selector]) => `${path}: ${selector.trim()}`);

test("what_is_done_is_muted_and_not_green", () => {
  assert.deepEqual(sheets.flatMap(shoutsDone), []);
  const given = '.a { color: var(--accent); }\n.x:is([data-state="RUNNING"], [data-state="COMPLETED"]) { color: var(--accent); }\n.y[data-status="done"] { color: var(--muted); }\n.z [data-came="done"] i { background: var(--accent-soft); }';
  assert.equal(shoutsDone({ path: "x.css", text: given }).length, 2);
});
