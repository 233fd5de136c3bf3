// Approvals, Activity and Settings in a real browser, with a server of the test's own: what a
// person does there, what is said when something fails, and that no text from outside becomes
// anything else than text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runInBrowser, skip } from "./in-browser.mjs";

test("approvals_activity_and_settings_in_a_real_browser", { skip, timeout: 300_000 }, async (t) => {
  const result = await runInBrowser("site-harness.mjs", ["tokens.css", "shell/base.css", "shell/shell.css", "ui/ui.css"]);
  assert.equal(result.failure, undefined);
  await t.test("hostile_text_stays_text_in_every_field", () => {
    assert.deepEqual(result.found, []);
    assert.equal(result.pwned, 0);
    assert.deepEqual(result.asked, []);
    assert.deepEqual(result.control, { ran: true });
  });
  for (const [name, ok] of Object.entries(result.checks)) {
    await t.test(name, () => assert.equal(ok, true));
  }
  assert.ok(Object.keys(result.checks).length >= 40);
});
