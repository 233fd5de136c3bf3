// The details pane in a real browser: beside the place, over it, and as a screen of its own; the
// focus comes and goes with it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runInBrowser, skip } from "./in-browser.mjs";

test("details_in_a_real_browser", { skip, timeout: 300_000 }, async (t) => {
  const result = await runInBrowser("details-harness.mjs");
  assert.equal(result.failure, undefined);
  for (const [name, ok] of Object.entries(result.checks)) {
    await t.test(name, () => assert.equal(ok, true));
  }
  assert.ok(Object.keys(result.checks).length >= 17);
});
