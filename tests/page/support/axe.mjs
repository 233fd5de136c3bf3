// Looks at the page with axe-core.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const AXE = readFileSync(new URL("../vendor/axe-core-4.14.1.min.js", import.meta.url), "utf8");
/** Beyond what axe looks at by itself: a name contains the words that are seen. */
export const RULES = { "label-content-name-mismatch": { enabled: true } };

/** The faults that axe finds in what `browser` shows, in words. A page gets axe once. */
export async function axe(browser) {
  if (!(await browser.js("return window.axe !== undefined"))) await browser.js(`${AXE}; window.axe = axe;`);
  const found = await browser.later(`const [rules, done] = arguments; axe.run(document, { resultTypes: ["violations"], rules }).then(({ violations, passes }) => done({ violations, passed: passes.length }), (error) => done({ error: String(error) }))`, RULES);
  assert.equal(found.error, undefined);
  assert.ok(found.passed > 10, "axe looked at something");
  return found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 4).map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ""}`).join(" | ")}`);
}
