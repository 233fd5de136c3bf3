// The blocks of a text that grows: at each piece the same as if all of it were read, and read only
// once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HOSTILE } from "./hostile.mjs";
import { load } from "./load.mjs";

const { Blocks } = await load("chat/blocks.js");

const TEXTS = [
  "# One\n\nText *with* emphasis\nand a second line.\n\n- a\n- b\n\n  still b\n\n- c\n\nAfter it.\n",
  "- a\n+1 is a lazy line\n\n+ another list\n\n1. x\n\n   - y\n\n     z\n2. w\n\nEnd.",
  "```js\nconst a = 1;\n\n// a line\n```\n\nText\n\n~~~\nnever closed\n\n# not a heading",
  "Title\n===\n\nText\n---\n\n***\n\n> quoted\n> more\nlazy\n\n> other\n\ntext",
  "| a | b |\n|---|--:|\n| 1 | 2 |\n\nText\n\n| c |\n|---|\n| 3 |\nend",
  "A [link][one] and [two].\n\nMore.\n\n[one]: https://example.com/\n\n[two]: https://example.org/\n\nLast.",
  "It costs $$5.\n\n$$\nx\n\ny\n$$\n\nText \\[ and\n\n\\[\na\n\\]\n\nEnd $x$ of it.",
  "<div>\ntext\n\n**bold**\n\n</div>\n\n<!-- open\n\nstill\n\n-->\n\nText\n\n<pre>\n\nx\n</pre>\n\ny",
  "a\r\n\r\nb\r\n- c\r\n\r\nd\re",
  "<your name>\ntext <b>bold\n\n<script>\n\nx\n</script>\n\n<table>\n<tr>\n\n<td>List<String>\n\nEnd",
  "    code\n\n    more code\n\ntext\n    not code\n\n\n\ntext",
  "# a\n## b\ntext\n# c\n- x\n# d\n  y\n***\n- z\n---\nend",
];

const shape = (blocks) => blocks.map(({ type, raw }) => `${type}:${raw.trimEnd()}`);

test("a_text_that_grows_has_the_blocks_it_has_when_it_is_read_whole", () => {
  for (const text of [...TEXTS, ...Object.values(HOSTILE)]) {
    const growing = new Blocks();
    for (let end = 1; end <= text.length; end += 1) {
      const part = text.slice(0, end);
      assert.deepEqual(shape(growing.of(part, true)), shape(new Blocks().of(part)), JSON.stringify(part));
    }
  }
});

test("what_is_finished_is_the_same_object_and_is_not_read_again", () => {
  const paragraph = "A sentence of the answer, with **some** words in it. ".repeat(4);
  const text = `${paragraph}\n\n- one\n- two\n\n## A heading\n\n${paragraph}\n\n`.repeat(40);
  const growing = new Blocks();
  let first;
  let pieces = 0;
  for (let end = 5; end < text.length; end += 5) {
    const blocks = growing.of(text.slice(0, end), true);
    pieces += 1;
    if (end > 1000) first ??= blocks[0];
    if (first) assert.equal(blocks[0], first);
  }
  assert.ok(pieces > 3000);
  // Whole, each piece would cost half of the text on average. A piece costs a block or two, at the
  // end as at the beginning.
  assert.ok(growing.readChars / pieces < 600, `${growing.readChars / pieces} characters for each piece`);
  const before = growing.readChars;
  growing.of(text, true);
  assert.ok(growing.readChars - before < 600, "the last one too");
});

test("another_text_begins_anew", () => {
  const blocks = new Blocks();
  blocks.of("one\n\ntwo\n\nthree", true);
  assert.deepEqual(shape(blocks.of("other", true)), ["paragraph:other"]);
  assert.deepEqual(shape(blocks.of("other\n\nend", false)), ["paragraph:other", "paragraph:end"]);
});
