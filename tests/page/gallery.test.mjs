// Every component in a real browser, by keyboard and as axe-core sees it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runInBrowser, skip } from "./in-browser.mjs";

test("the_components_in_a_real_browser", { skip, timeout: 300_000 }, async (t) => {
  const result = await runInBrowser("gallery.html");
  assert.equal(result.failure, undefined);
  for (const [name, ok] of Object.entries(result.checks)) {
    await t.test(name, () => assert.equal(ok, true));
  }
  assert.ok(Object.keys(result.checks).length >= 26);
});
