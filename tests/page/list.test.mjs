// The message list in a real browser, given what DOMPurify's authors collected against it and more:
// no text takes another row, an approval or the composer with it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runInBrowser, skip } from "./in-browser.mjs";

test("the_message_list_in_a_real_browser", { skip, timeout: 300_000 }, async (t) => {
  const result = await runInBrowser("list-harness.mjs", ["tokens.css", "shell/base.css", "ui/ui.css", "ui/code.css", "chat/messages.css", "chat/composer.css", "ui/approval.css"]);
  assert.equal(result.failure, undefined);
  await t.test("no_text_takes_a_row_an_approval_or_the_composer_with_it", () => {
    assert.ok(result.fixtures >= 200 && result.tried > result.fixtures + 30, "the lists were tried");
    assert.deepEqual(result.failures, []);
    assert.deepEqual(result.errors, []);
  });
  await t.test("no_text_in_the_list_runs_or_fetches_anything", () => {
    assert.equal(result.pwned, 0);
    assert.deepEqual(result.asked, []);
    assert.deepEqual(result.control, { ran: true }, "the harness would have noticed");
  });
  for (const [name, ok] of Object.entries(result.checks)) {
    await t.test(name, () => assert.equal(ok, true));
  }
  assert.ok(Object.keys(result.checks).length >= 5);
});
