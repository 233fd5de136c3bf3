// Markdown in a real browser: what is hostile does no harm even without the page's
// Content-Security-Policy, and what is not comes out as it should.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runInBrowser, skip } from "./in-browser.mjs";

test("markdown_in_a_real_browser", { skip, timeout: 300_000 }, async (t) => {
  const result = await runInBrowser("markdown-harness.mjs", ["tokens.css", "ui/code.css", "chat/messages.css"]);
  assert.equal(result.failure, undefined);
  await t.test("hostile_markdown_leaves_nothing_forbidden_behind", () => {
    assert.ok(result.hostile.length >= 30, "the list was tried");
    assert.deepEqual(
      result.hostile.filter(({ found }) => found.length > 0),
      [],
    );
  });
  await t.test("hostile_markdown_runs_nothing_and_fetches_nothing", () => {
    assert.equal(result.pwned, 0);
    assert.deepEqual(result.asked, []);
    assert.deepEqual(result.control, { ran: true }, "the harness would have noticed");
  });
  for (const { name, ok, detail } of result.plain) {
    await t.test(name, () => assert.ok(ok, detail));
  }
  assert.ok(result.plain.length >= 9);
});
