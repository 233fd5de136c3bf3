// The places Tasks and Capabilities in a real browser, by keyboard, with failures and with what
// others do meanwhile.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runInBrowser, skip } from "./in-browser.mjs";

test("tasks_and_capabilities_in_a_real_browser", { skip, timeout: 300_000 }, async (t) => {
  const result = await runInBrowser("work-harness.mjs", ["tokens.css", "shell/base.css", "ui/ui.css", "shell/shell.css"]);
  assert.equal(result.failure, undefined, JSON.stringify(result.checks));
  assert.deepEqual(result.errors, []);
  assert.deepEqual(result.asked, [], "nothing is asked of another server");
  for (const [name, ok] of Object.entries(result.checks)) {
    await t.test(name, () => assert.equal(ok, true));
  }
  assert.ok(Object.keys(result.checks).length >= 35);
});
