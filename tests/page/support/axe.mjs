// Looks at the page with axe-core.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const AXE = readFileSync(new URL("../vendor/axe-core-4.14.1.min.js", import.meta.url), "utf8");

/** The faults that axe finds in what `browser` shows, in words. */
export async function axe(browser) {
  await browser.js(`${AXE}; window.axe = axe;`);
  const found = await browser.later(`const done = arguments[0]; axe.run(document, { resultTypes: ["violations"] }).then(({ violations, passes }) => done({ violations, passed: passes.length }), (error) => done({ error: String(error) }))`);
  assert.equal(found.error, undefined);
  assert.ok(found.passed > 10, "axe looked at something");
  return found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 4).map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ""}`).join(" | ")}`);
}
