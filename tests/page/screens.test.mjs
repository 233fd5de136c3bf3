// Every screen in a real browser: axe-core finds nothing, nothing is wider than the window, nothing
// scrolls the frame away, and on a phone everything can be met with a thumb.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { OFFLINE_SCREENS, openScreen, PHONE_SCREENS, SCREENS } from "./support/screens.mjs";
import { serveScreens } from "./support/screens-server.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { emptyWorld, failingWorld, fullWorld } from "./support/worlds.mjs";

const AXE = readFileSync(new URL("vendor/axe-core-4.14.1.min.js", import.meta.url), "utf8");
const NOW = Date.now();
const WORLDS = { full: fullWorld(NOW), empty: emptyWorld(NOW), failing: failingWorld(NOW) };
/** A finger needs this many pixels; what stands within a line of text is as tall as the line. */
const TOUCH = 44;

let browser;
const servers = {};
before(async () => {
  if (skip) return;
  for (const [name, world] of Object.entries(WORLDS)) servers[name] = await serveScreens(world);
  browser = await startBrowser();
});
after(async () => {
  await browser?.end();
  for (const server of Object.values(servers)) server.end();
});

/** What axe finds; a page gets it once. */
async function axe() {
  if (!(await browser.js("return window.axe !== undefined"))) await browser.js(`${AXE}; window.axe = axe;`);
  const found = await browser.later(`const done = arguments[0]; axe.run(document, { resultTypes: ["violations"] }).then(({ violations, passes }) => done({ violations, passed: passes.length }), (error) => done({ error: String(error) }))`);
  assert.equal(found.error, undefined);
  assert.ok(found.passed > 10, "axe looked at something");
  return found.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 4).map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ""}`).join(" | ")}`);
}

/** How far the frame is too wide or too tall, or has been scrolled. */
const FRAME = `const root = document.documentElement; return { wide: Math.max(root.scrollWidth, document.body.scrollWidth) - innerWidth, tall: root.scrollHeight - innerHeight, top: root.scrollTop };`;

/** The parts that can be pressed and are smaller than a fingertip, in words. */
const SMALL = `
  const top = document.querySelector("dialog:modal, .menu:popover-open") ?? document;
  const all = [...top.querySelectorAll("button, a[href], input, select, textarea, summary, [role=option], [role=tab], [role=switch]")];
  const inText = (node) => getComputedStyle(node).display === "inline";
  return all.filter((node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !inText(node) && !node.closest(".skip, [aria-hidden=true]"))
    .map((node) => node.matches("input") ? node.closest("label") ?? node : node)
    .filter((node) => { const { width, height } = node.getBoundingClientRect(); return height > 0 && (height < arguments[0] - 0.5 || width < arguments[0] - 0.5); })
    .map((node) => { const { width, height } = node.getBoundingClientRect(); return node.outerHTML.slice(0, 120) + " " + Math.round(width) + "×" + Math.round(height); });`;

const THEMES = ["light", "dark"];
const SIZES = [[1440, 900], [820, 1100], [390, 844]];
/** Everything in the full world; in the others each screen in one theme, at two widths. */
const looks = [
  ...SIZES.map((size) => ({ world: "full", size, themes: THEMES })),
  { world: "empty", size: SIZES[0], themes: ["dark"] },
  { world: "empty", size: SIZES[2], themes: ["light"] },
  { world: "failing", size: SIZES[0], themes: ["light"] },
  { world: "failing", size: SIZES[2], themes: ["dark"] },
];
const screensOf = ({ world, size }) => [...SCREENS, ...(size[0] < 640 ? PHONE_SCREENS : [])].filter(({ only = world }) => only === world);
const inTheme = (theme) => browser.media({ "prefers-color-scheme": theme, "prefers-reduced-motion": "reduce" });

for (const look of looks) {
  const { world, size, themes } = look;
  for (const screen of screensOf(look)) {
    test(`${screen.name}_${world}_${size[0]}`, { skip, timeout: 120_000 }, async () => {
      await browser.size(...size);
      await inTheme(themes[0]);
      await openScreen(browser, servers[world].address, screen);
      // The page follows the system's theme; a screen is not opened again for it.
      for (const theme of themes) {
        await inTheme(theme);
        assert.deepEqual(await axe(), [], theme);
        assert.deepEqual(await browser.js(FRAME), { wide: 0, tall: 0, top: 0 }, theme);
      }
      if (size[0] < 640) assert.deepEqual(await browser.js(SMALL, TOUCH), []);
      const errors = await browser.errors();
      // The browser itself tells of each answer that is a refusal.
      assert.deepEqual(errors.filter((message) => !message.includes("Failed to load resource")), []);
    });
  }
}

/** Places that say it if what they show does not come. */
const TELLS = ["approvals", "lea", "tasks", "tasks_week", "task", "relay", "relay_instance", "operator", "operator_task", "campaigns", "campaign", "capability", "capabilities", "activity", "replay", "usage", "settings"];

test("a_list_that_does_not_come_is_said_and_not_called_empty", { skip, timeout: 120_000 }, async () => {
  await browser.size(1440, 900);
  const telling = SCREENS.filter(({ name }) => TELLS.includes(name));
  assert.equal(telling.length, TELLS.length);
  for (const screen of telling) {
    await openScreen(browser, servers.failing.address, screen);
    const said = `return [...document.querySelectorAll("main [role=alert]")].some((node) => node.checkVisibility() && node.innerText.includes("The database does not answer."))`;
    await browser.waitFor(said);
    const empty = `return [...document.querySelectorAll("main [data-testid=empty]")].filter((node) => node.checkVisibility()).map((node) => node.innerText)`;
    assert.deepEqual(await browser.js(empty), [], screen.name);
    const waits = `return [...document.querySelectorAll("main l3-waiting")].filter((node) => node.checkVisibility()).length`;
    assert.equal(await browser.js(waits), 0, `${screen.name}: nothing is waited for`);
  }
});

test("without_a_server_every_place_can_be_read_and_says_so", { skip, timeout: 240_000 }, async () => {
  const world = fullWorld(NOW);
  const server = await serveScreens(world);
  try {
    for (const [index, size] of [SIZES[0], SIZES[2]].entries()) {
      await browser.size(...size);
      await browser.media({ "prefers-color-scheme": THEMES[index], "prefers-reduced-motion": "reduce" });
      world.down = false;
      await openScreen(browser, server.address, SCREENS[0]);
      world.down = true;
      server.drop();
      await browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=offline]") !== null`);
      for (const { name, hash, css } of OFFLINE_SCREENS) {
        await browser.js("location.hash = arguments[0]", hash);
        await browser.waitFor(`return document.querySelector(arguments[0])?.checkVisibility() === true`, css);
        assert.match(await browser.js(`return document.querySelector("l3-banners").innerText`), /The server cannot be reached\./, name);
        assert.deepEqual(await axe(), [], name);
        assert.deepEqual(await browser.js(FRAME), { wide: 0, tall: 0, top: 0 }, name);
      }
    }
  } finally {
    server.end();
  }
});

/** The place and the day that are chosen, if they are out of sight in what scrolls around them. */
const UNSEEN = `
  const chosen = [...document.querySelectorAll("l3-rail [aria-current=page], .week-day[data-chosen]")].filter((node) => node.checkVisibility());
  return chosen.filter((node) => {
    const [inner, outer] = [node, node.closest("l3-rail, .week")].map((each) => each.getBoundingClientRect());
    return inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1 || inner.left < outer.left - 1 || inner.right > outer.right + 1;
  }).map((node) => node.outerHTML.slice(0, 120));`;

/** 320 pixels, and a desk on which everything is twice as large. */
for (const [name, size] of [["320_pixels", [320, 640]], ["twice_the_size", [720, 450]]]) {
  test(`at_${name}_nothing_is_wider_than_the_window`, { skip, timeout: 240_000 }, async () => {
    await browser.size(...size);
    const wrong = [];
    for (const screen of screensOf({ world: "full", size })) {
      await openScreen(browser, servers.full.address, screen);
      const { wide, tall } = await browser.js(FRAME);
      if (wide > 0 || tall > 0) wrong.push(`${screen.name}: ${wide} wider, ${tall} taller`);
      for (const part of await browser.js(UNSEEN)) wrong.push(`${screen.name}: out of sight: ${part}`);
    }
    assert.deepEqual(wrong, []);
  });
}

test("colours_of_the_system_and_right_to_left_break_no_screen", { skip, timeout: 240_000 }, async () => {
  await browser.size(1440, 900);
  await browser.media({ "forced-colors": "active", "prefers-reduced-motion": "reduce" });
  const wrong = [];
  for (const screen of screensOf({ world: "full", size: [1440] })) {
    await openScreen(browser, servers.full.address, screen);
    await browser.js(`document.documentElement.dir = "rtl"`);
    const { wide, tall } = await browser.js(FRAME);
    if (wide > 0 || tall > 0) wrong.push(`${screen.name}: ${wide} wider, ${tall} taller`);
    // The rail stands where the line of text begins.
    const rail = await browser.js(`const { right } = document.querySelector("l3-rail").getBoundingClientRect(); return innerWidth - right`);
    assert.equal(rail, 0, screen.name);
  }
  await browser.media({ "forced-colors": "none" });
  assert.deepEqual(wrong, []);
});

test("on_a_phone_the_list_is_a_screen_with_back", { skip, timeout: 120_000 }, async () => {
  await browser.size(390, 844);
  const [list] = PHONE_SCREENS;
  await openScreen(browser, servers.full.address, list);
  const { width } = await browser.js(`return document.querySelector(".conversation-panel").getBoundingClientRect()`);
  assert.equal(width, 390);
  await browser.js(`document.querySelector("[data-testid=list-back]").click()`);
  await browser.waitFor(`return !document.querySelector(".conversation-panel").checkVisibility() && document.activeElement.matches("[data-testid=list-open]")`);
});

test("no_key_scrolls_the_frame_away", { skip, timeout: 120_000 }, async () => {
  await browser.size(1440, 900);
  await openScreen(browser, servers.full.address, SCREENS[0]);
  await browser.js(`document.activeElement.blur(); document.querySelector(".skip").focus()`);
  const TAB = "\uE004";
  const seen = new Set();
  for (let press = 0; press < 60; press += 1) {
    const at = await browser.js(`const node = document.activeElement; return { top: document.documentElement.scrollTop + document.body.scrollTop, node: node.outerHTML.slice(0, 90) }`);
    assert.equal(at.top, 0, at.node);
    seen.add(at.node);
    await browser.keys(TAB);
  }
  assert.ok(seen.size > 15, `${seen.size} places took the focus`);
});
