// The weight of the first look at Chat, and of the first words said there, compressed as the
// program does it: the modules that are imported at once, their styles, and the font.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const STATIC = fileURLToPath(new URL("../../static", import.meta.url));
const read = (file) => readFileSync(join(STATIC, file), "utf8");
/** In KB: our own files of the first look, and with it all that a message, its answer and the line below it need. */
const MOST = { own: 70, all: 160 };
/** The elements of a first message, of what is noted beside it, and of its answer. */
const FIRST_WORDS = ["chat/message.js", "chat/note.js", "chat/answer.js", "chat/turn-foot.js"];
const FONT = "vendor/inter-5.3.0-latin.woff2";

/** Files that `file` cannot do without: what it imports, and styles that it waits for. What is imported when it is needed is not among them. */
function needed(file) {
  const text = read(file);
  const styles = [...text.matchAll(/await styles\(import\.meta\.url,([^)]*)\)|_STYLES = \[([^\]]*)\]/g)].flatMap(([, a, b]) => [...(a ?? b).matchAll(/"([^"]+)"/g)]);
  const imports = file.endsWith(".js") ? [...text.matchAll(/^(?:(?:import|export)\b[^"';]*?from |import )"(\.[^"]+)"/gm)] : [];
  return [...imports, ...styles].map(([, target]) => normalize(join(dirname(file), target)));
}

// Only phones ask for the icon of their home screen.
const INDEX = read("index.html").replace(/.*apple-touch-icon.*/, "");
const inIndex = [...INDEX.matchAll(/"\/s\/-\/([^"]+)"/g)].map(([, file]) => file);
/** The module that `shell/early.js` begins after the first paint, and the place that is opened first. */
const BEGUN = ["shell/index.js", "chat/index.js"];

/** All files of the first look, and of what is opened in it. */
function carriedFor(...opened) {
  const files = new Set(["index.html", FONT]);
  const add = (file) => {
    if (files.has(file)) return;
    files.add(file);
    if (file.endsWith(".js")) for (const each of needed(file)) add(each);
  };
  for (const file of [...inIndex, ...BEGUN, ...opened]) add(file);
  return [...files];
}

/** As `src/http/page.rs` does it. */
function carried(file) {
  if (file === FONT) return readFileSync(join(STATIC, file)).length;
  const isOurs = !file.startsWith("vendor/") && /\.(js|css)$/.test(file);
  const text = isOurs ? read(file).replace(/^[ \t]*\/\*[\s\S]*?\*\/[ \t]*$/gm, "").replace(/^[ \t]*\/\/.*$/gm, "") : read(file);
  return gzipSync(text, { level: 9 }).length;
}

const weighed = (names) => names.map((file) => ({ file, bytes: carried(file) })).sort((a, b) => b.bytes - a.bytes);
const sum = (files) => files.reduce((all, { bytes }) => all + bytes, 0);
const said = (files) => files.slice(0, 25).map(({ file, bytes }) => `${file} ${bytes}`).join(", ");

test("the_first_look_carries_little", (t) => {
  const files = weighed(carriedFor());
  const own = sum(files.filter(({ file }) => !file.startsWith("vendor/")));
  t.diagnostic(`${files.length} files, own ${own} bytes, all ${sum(files)}: ${said(files)}`);
  assert.ok(files.length > 40 && files.some(({ file }) => file === "chat/messages.css"), "the files were found");
  assert.ok(own <= MOST.own * 1024, `${own} bytes of our own`);
});

test("the_first_words_carry_little_more", (t) => {
  const files = weighed(carriedFor(...FIRST_WORDS));
  t.diagnostic(`${files.length} files, all ${sum(files)} bytes: ${said(files)}`);
  const names = files.map(({ file }) => file);
  assert.ok(names.some((name) => name.startsWith("vendor/marked")), "an answer is read as Markdown");
  for (const late of ["highlight", "uplot", "temml", "inter-5.3.0-latin-ext"]) assert.ok(!names.some((name) => name.includes(late)), `${late} comes when it is used`);
  assert.ok(sum(files) <= MOST.all * 1024, `${sum(files)} bytes in all`);
});

/** The modules that `shell/early.js` names in this list. */
function named(list) {
  const [, found] = new RegExp(`const ${list} = (\\[[\\s\\S]*?\\n  \\]);`).exec(read("shell/early.js"));
  return [...found.matchAll(/\["(\w+)", "([^"]+)"\]/g)].flatMap(([, folder, names]) => names.split(" ").map((name) => `${folder}/${name}.js`));
}

/** All modules that these cannot do without, and they themselves. */
function modulesOf(...files) {
  const all = new Set();
  const add = (file) => {
    if (!file.endsWith(".js") || all.has(file)) return;
    all.add(file);
    for (const each of needed(file)) add(each);
  };
  files.forEach(add);
  return all;
}

test("all_that_is_asked_for_beforehand_is_what_the_page_and_chat_need", () => {
  const shell = modulesOf("shell/index.js");
  const chat = modulesOf("shell/index.js", "chat/index.js");
  const [base, page] = [named("BASE"), [...named("BASE"), ...named("SHELL")]];
  assert.deepEqual(page.filter((file) => !shell.has(file)), ["core/styles.js"], "which each place needs");
  assert.deepEqual([...page, ...named("CHAT")].toSorted(), [...chat].toSorted(), "the lists in `shell/early.js` are these");
  assert.ok(named("CHAT").every((file) => !shell.has(file)), "what the page needs is asked for in every place");
  const reader = modulesOf("chat/markdown.js");
  assert.deepEqual([...base, ...named("READER")].toSorted(), [...reader].toSorted(), "with these the reader is whole");
});

test("all_that_is_asked_for_beforehand_is_what_a_conversation_needs", () => {
  const first = new Set([...named("BASE"), ...named("READER"), ...named("SHELL"), ...named("CHAT")]);
  const wanted = modulesOf("chat/turns.js", "chat/retried.js", "chat/answer.js", "chat/message.js", "chat/turn-foot.js");
  assert.deepEqual(named("SAID").toSorted(), [...wanted].filter((file) => !first.has(file)).toSorted(), "the list in `shell/early.js` is this");
  const steps = [...modulesOf("chat/steps.js")].filter((file) => !first.has(file) && !wanted.has(file));
  assert.deepEqual(named("STEPS").toSorted(), steps.toSorted(), "and so is that of steps");
});
