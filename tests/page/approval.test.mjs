// The approval card in a real browser: hostile text stays text and is shown whole, what hides is
// written out, and Approve works only when the card was read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runInBrowser, skip } from "./in-browser.mjs";

test("approvals_in_a_real_browser", { skip, timeout: 300_000 }, async (t) => {
  const styles = ["tokens.css", "shell/base.css", "ui/ui.css", "ui/code.css", "ui/approval.css"];
  const result = await runInBrowser("approval-harness.mjs", styles);
  assert.equal(result.failure, undefined);
  await t.test("hostile_text_is_shown_as_it_is_and_nothing_comes_of_it", () => {
    assert.ok(result.hostile.length >= 30, "the list was tried");
    assert.deepEqual(
      result.hostile.filter(({ found }) => found.length > 0),
      [],
    );
    assert.equal(result.pwned, 0);
    assert.deepEqual(result.asked, []);
    assert.deepEqual(result.control, { ran: true }, "the harness would have noticed");
  });
  for (const [name, ok] of Object.entries(result.checks)) {
    await t.test(name, () => assert.equal(ok, true));
  }
  assert.ok(Object.keys(result.checks).length >= 40);
});
