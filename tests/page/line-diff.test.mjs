// The lines in which two texts differ.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesWithin, lineDiff } from "../../static/core/line-diff.js";

test("a_diff_has_every_line_of_both_texts_in_order", () => {
  assert.equal(lineDiff("a", "a"), "");
  assert.equal(lineDiff("a\nb\nc", "a\nx\nc"), "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c");
  let seed = 7;
  const random = (most) => (seed = (seed * 48_271) % 2_147_483_647) % most;
  const text = () => Array.from({ length: 1 + random(9) }, () => "abc"[random(3)]).join("\n");
  for (let turn = 0; turn < 500; turn += 1) {
    const [before, after] = [text(), text()];
    const lines = lineDiff(before, after).split("\n").slice(1);
    if (before === after) continue;
    const kept = (sign) => lines.filter((line) => line[0] !== sign).map((line) => line.slice(1)).join("\n");
    assert.deepEqual([kept("+"), kept("-")], [before, after]);
    // The places alone: put into the old text they make the new one.
    const changes = changesWithin(before, after);
    if (changes !== undefined) assert.equal(patched(before, changes), after, changes);
  }
});

/** A text with the changes of a diff without lines around them. */
function patched(text, diff) {
  const old = text.split("\n");
  const made = [];
  let at = 0;
  for (const line of diff === "" ? [] : diff.split("\n")) {
    const place = /^@@ -(\d+)/.exec(line);
    if (place) while (at < Number(place[1]) - 1) made.push(old[at++]);
    else if (line.startsWith("-")) at += 1;
    else made.push(line.slice(1));
  }
  return [...made, ...old.slice(at)].join("\n");
}

test("a_text_and_what_was_made_of_it_differ_in_a_few_lines_and_two_others_in_all", () => {
  const source = "async function weather() {\n  return 1\n}";
  assert.equal(changesWithin(source, source), "");
  assert.equal(changesWithin(source, `${source}\nexport default weather;\n`), "@@ -4,0 +4,2 @@\n+export default weather;\n+");
  assert.equal(changesWithin("Asks for the weather.\n", source), undefined);
});
