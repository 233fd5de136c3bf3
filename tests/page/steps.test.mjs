// Steps, feet, rows, charts and formulas in a real browser, under the Content-Security-Policy of
// the server.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInBrowser, skip } from "./in-browser.mjs";

const STYLES = ["tokens.css", "shell/base.css", "ui/ui.css", "ui/code.css", "chat/messages.css", "chat/tools.css", "chat/steps.css"];

/** The policy as the server sends it. */
function policy() {
  const source = readFileSync(new URL("../../src/http/access/mod.rs", import.meta.url), "utf8");
  const [, text] = /CONTENT_SECURITY_POLICY,\s*"([^"]*)"/.exec(source);
  return text.replace(/\\\n\s*/g, "");
}

test("steps_rows_charts_and_formulas_in_a_real_browser", { skip, timeout: 300_000 }, async (t) => {
  assert.match(policy(), /default-src 'none'; script-src 'self'; style-src 'self';/);
  const result = await runInBrowser("steps-harness.mjs", STYLES, { "content-security-policy": policy() });
  assert.equal(result.failure, undefined);
  for (const [name, ok] of Object.entries(result.checks)) await t.test(name, () => assert.equal(ok, true));
  assert.ok(Object.keys(result.checks).length >= 41);
  await t.test("no_text_in_steps_cells_charts_or_formulas_becomes_markup", () => {
    assert.deepEqual(result.found, []);
    assert.deepEqual(result.errors, []);
    assert.equal(result.pwned, 0);
    assert.deepEqual(result.asked, []);
  });
  await t.test("nothing_breaks_the_policy_of_the_page", () => {
    assert.deepEqual(result.violations, []);
    assert.deepEqual(result.control, { noticed: true }, "the harness would have noticed");
  });
});
