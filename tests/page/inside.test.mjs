// The inside of turns, opened: steps, arguments, tables, a chart, the details of a cell. axe-core
// finds nothing, in light and in dark.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe } from "./support/axe.mjs";
import { serveTalk } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { workedFrames } from "./support/worked.mjs";

let browser;
let server;
before(async () => {
  if (skip) return;
  server = await serveTalk(workedFrames());
  browser = await startBrowser();
});
after(async () => {
  await browser?.end();
  server?.end();
});

/** Opens every fold there is, also those that come when another is opened. */
const OPEN_ALL = `const folds = [...document.querySelectorAll("l3-messages details:not([open]) > summary")]; folds.forEach((each) => each.click()); return folds.length === 0`;

for (const [theme, size] of [["light", [1440, 900]], ["dark", [1440, 900]], ["dark", [390, 844]]]) {
  test(`axe_finds_nothing_in_open_steps_tables_and_charts_${theme}_${size[0]}`, { skip, timeout: 120_000 }, async () => {
    await browser.size(...size);
    await browser.media({ "prefers-color-scheme": theme, "prefers-reduced-motion": "reduce" });
    await browser.go("about:blank");
    await browser.go(`${server.address}#chat`);
    await browser.waitFor(`return document.querySelectorAll("l3-steps summary").length >= 2 && document.querySelectorAll("l3-foot").length === 2`);
    await browser.waitFor(OPEN_ALL);
    await browser.waitFor(`return document.querySelector(".rows-table tbody tr") !== null`);
    await browser.js(`document.querySelectorAll(".rows-table thead button")[1].click(); document.querySelector("[data-testid=chart-open]").click()`);
    await browser.waitFor(`return document.querySelector(".chart-canvas canvas[role=img]") !== null`);
    assert.deepEqual(await axe(browser), []);
    const wide = await browser.js(`return Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - innerWidth`);
    assert.equal(wide, 0);
    await browser.js(`document.querySelector(".cell-long").click()`);
    await browser.waitFor(`return document.querySelector("[data-testid=details]")?.checkVisibility()`);
    assert.deepEqual(await axe(browser), []);
    await browser.js(`document.querySelector(".details-close").click()`);
  });
}
