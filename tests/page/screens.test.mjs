// Every screen in a real browser: axe-core finds nothing, nothing is wider than the window, nothing
// scrolls the frame away, and on a phone everything can be met with a thumb.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { axe } from "./support/axe.mjs";
import { longFrames } from "./support/long.mjs";
import { goToScreen, isPart, OFFLINE_SCREENS, openScreen, PAGES, PHONE_SCREENS, SCREENS, SIZES, THEMES, WINDOWS } from "./support/screens.mjs";
import { serveScreens } from "./support/screens-server.mjs";
import { serveTalk } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { emptyWorld, failingWorld, fullWorld } from "./support/worlds.mjs";

const NOW = Date.now();
const WORLDS = { full: fullWorld(NOW), empty: emptyWorld(NOW), failing: failingWorld(NOW), stranger: { ...emptyWorld(NOW), api: {} } };
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

const isPhone = ([width]) => width < 640;
const inWorld = (world, screens) => screens.filter(({ only = world }) => only === world);
const inTheme = (theme) => browser.media({ "prefers-color-scheme": theme, "prefers-reduced-motion": "reduce" });

/** The screen as it is seen in these windows and in both themes. The page follows window and theme: a screen is not opened again for them. */
async function looksRight(world, sizes, screen) {
  await browser.size(...sizes[0]);
  await openScreen(browser, servers[world].address, screen);
  for (const size of sizes) {
    await browser.size(...size);
    for (const theme of THEMES) {
      await inTheme(theme);
      // Parts of the settings are one page, at which axe looks once, whichever part is in sight.
      if (!isPart(screen)) assert.deepEqual(await axe(browser), [], `${size[0]} ${theme}`);
      assert.deepEqual(await browser.js(FRAME), { wide: 0, tall: 0, top: 0 }, `${size[0]} ${theme}`);
    }
    if (isPhone(size)) assert.deepEqual(await browser.js(SMALL, TOUCH), []);
  }
  const errors = await browser.errors();
  // The browser itself tells of each answer that is a refusal.
  assert.deepEqual(errors.filter((message) => !message.includes("Failed to load resource")), []);
}

const ALL = Object.values(SIZES);
/** In the full world a screen is opened in each window; in the others it is there while the window changes. */
const looks = [
  ...ALL.map((size) => ({ world: "full", sizes: [size], screens: SCREENS })),
  { world: "full", sizes: ALL, screens: PAGES },
  ...["empty", "failing"].map((world) => ({ world, sizes: ALL, screens: [...SCREENS, ...PAGES] })),
  { world: "stranger", sizes: ALL, screens: PAGES.filter(({ only }) => only === "stranger") },
  ...["full", "empty", "failing"].map((world) => ({ world, sizes: [SIZES.phone], screens: PHONE_SCREENS })),
];
for (const { world, sizes, screens } of looks) {
  for (const screen of inWorld(world, screens)) {
    test(`${screen.name}_${world}_${sizes.map(([width]) => width).join("_")}`, { skip, timeout: 120_000 }, () => looksRight(world, sizes, screen));
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
    await browser.size(...SIZES.desk);
    await openScreen(browser, server.address, SCREENS[0]);
    world.down = true;
    server.drop();
    await browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=offline]") !== null`);
    for (const screen of OFFLINE_SCREENS) {
      await goToScreen(browser, server.address, screen);
      assert.match(await browser.js(`return document.querySelector("l3-banners").innerText`), /The server cannot be reached\./, screen.name);
      for (const [window, size] of Object.entries(SIZES)) {
        await browser.size(...size);
        assert.deepEqual(await browser.js(FRAME), { wide: 0, tall: 0, top: 0 }, `${screen.name} ${window}`);
        if (isPart(screen)) continue;
        for (const theme of THEMES) {
          await inTheme(theme);
          assert.deepEqual(await axe(browser), [], `${screen.name} ${window} ${theme}`);
        }
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

for (const [name, { size }] of Object.entries(WINDOWS)) {
  test(`at_${name}_nothing_is_wider_than_the_window_and_axe_finds_nothing`, { skip, timeout: 240_000 }, async () => {
    await browser.size(...size);
    const wrong = [];
    const all = inWorld("full", [...SCREENS, ...(isPhone(size) ? PHONE_SCREENS : []), ...PAGES]);
    for (const screen of all) {
      await openScreen(browser, servers.full.address, screen);
      const { wide, tall } = await browser.js(FRAME);
      // A page beside the places scrolls as a whole.
      if (wide > 0 || (tall > 0 && !screen.path)) wrong.push(`${screen.name}: ${wide} wider, ${tall} taller`);
      for (const part of await browser.js(UNSEEN)) wrong.push(`${screen.name}: out of sight: ${part}`);
      for (const theme of isPart(screen) ? [] : THEMES) {
        await inTheme(theme);
        for (const fault of await axe(browser)) wrong.push(`${screen.name} ${theme}: ${fault}`);
      }
    }
    assert.deepEqual(wrong, []);
  });
}

test("colours_of_the_system_and_right_to_left_break_no_screen", { skip, timeout: 240_000 }, async () => {
  await browser.size(1440, 900);
  await browser.media({ "forced-colors": "active", "prefers-reduced-motion": "reduce" });
  const wrong = [];
  for (const screen of inWorld("full", SCREENS)) {
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

/** Opens the screen of this name in the full world. */
const openFull = (name) => openScreen(browser, servers.full.address, [...SCREENS, ...PHONE_SCREENS].find((each) => each.name === name));

/** The lines and the filled shapes by which one sees a thing whose background the system has taken away. */
const DRAWN = `
  const canvas = getComputedStyle(document.body).backgroundColor;
  const isSeen = (color) => color !== canvas && !/^rgba.*, 0\\)$/.test(color);
  const drawn = (node) => {
    const style = getComputedStyle(node);
    const line = (side) => style[side + "Style"] !== "none" && parseFloat(style[side + "Width"]) > 0 && isSeen(style[side + "Color"]) ? [side + " " + style[side + "Width"] + " " + style[side + "Color"]] : [];
    const fill = style.forcedColorAdjust === "none" && isSeen(style.backgroundColor) ? ["filled"] : [];
    return [...["borderTop", "borderRight", "borderBottom", "borderLeft", "outline"].flatMap(line), ...fill, ...(style.textDecorationLine === "none" ? [] : [style.textDecorationLine]), style.appearance === "auto" && node.matches("input") ? "of the system" : ""].join(", ");
  };
  return [...document.querySelectorAll(arguments[0])].filter((node) => node.checkVisibility({ visibilityProperty: true })).map(drawn);`;
const drawn = (css) => browser.js(DRAWN, css);

test("colours_of_the_system_leave_what_is_chosen_focused_or_marked_in_sight", { skip, timeout: 240_000 }, async () => {
  await browser.size(...SIZES.desk);
  await browser.media({ "forced-colors": "active", "prefers-reduced-motion": "reduce" });
  /** Each of the first is drawn, and otherwise than each of the others. */
  const differ = async (screen, chosen, others) => {
    const [marked, plain] = [await drawn(chosen), await drawn(others)];
    assert.ok(marked.length > 0 && plain.length > 0, `${screen}: ${chosen} and ${others} are there`);
    for (const one of marked) assert.ok(one !== "" && !plain.includes(one), `${screen}: ${chosen} is drawn as ${others}: ${one}`);
  };
  /** With the focus on a thing, `shown` is drawn otherwise than before: the thing itself, or what is around it. */
  const rings = async (screen, css, shown = css) => {
    // A person uses the keyboard; to others the ring is not shown.
    await browser.keys("\uE004");
    await browser.js(`document.activeElement.blur()`);
    const [before] = await drawn(shown);
    await browser.js(`document.querySelector(arguments[0]).focus()`, css);
    const [focused] = await drawn(shown);
    assert.ok(focused?.includes("outline") && focused !== before, `${screen}: the focus on ${css}: ${before} becomes ${focused}`);
  };
  const seen = async (screen, css) => {
    const all = await drawn(css);
    assert.ok(all.length > 0, `${screen}: ${css} is there`);
    assert.deepEqual(all.filter((each) => each === ""), [], `${screen}: ${css}`);
  };
  await openFull("steps");
  await differ("chat", ".rail-place[aria-current]", ".rail-place:not([aria-current], .rail-more)");
  await differ("chat", "l3-conversation:has([aria-current])", "l3-conversation:not(:has([aria-current]))");
  await seen("chat", ".badge");
  await seen("chat", ".connection .dot");
  await seen("chat", ".steps-dots i");
  for (const css of [".rail-place[aria-current]", ".rail-place:not([aria-current])", "l3-conversation [aria-current]", "l3-foot button", "[data-testid=steps] summary"]) await rings("chat", css);
  await rings("chat", "[data-testid=composer]", "l3-composer form");
  const pressed = ".conversation-panel > [aria-pressed=true]";
  await browser.js(`const [button] = document.querySelectorAll(".conversation-panel > [aria-pressed]"); button.after(Object.assign(button.cloneNode(true), { ariaPressed: "true" }))`);
  await differ("chat", pressed, ".conversation-panel > [aria-pressed=false]");
  await rings("chat", pressed);
  await openFull("palette");
  await differ("palette", ".palette [aria-selected=true]", ".palette [aria-selected=false]");
  await openFull("capability");
  await differ("capability", "[role=tab][aria-selected=true]", "[role=tab][aria-selected=false]");
  await rings("capability", "[role=tab][aria-selected=true]");
  await openFull("usage");
  await differ("usage", ".parts a[aria-current]", ".parts a:not([aria-current])");
  await openFull("tasks_week");
  await differ("tasks_week", ".week-day[data-today]", ".week-day:not([data-today])");
  await openFull("settings_look");
  await differ("settings_look", ".segmented [aria-checked=true]", ".segmented [aria-checked=false]");
  await rings("settings_look", "[data-testid=settings-look] .segmented [aria-checked=true]");
  await openFull("lea");
  await seen("lea", "l3-todo [type=checkbox]");
  await browser.size(...SIZES.phone);
  await openFull("tasks");
  await differ("tasks", ".rail-place[aria-current]", ".rail-place:not([aria-current])");
  await browser.media({ "forced-colors": "none" });
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

/**
 * What a press of Tab came to: how far anything around the places has been scrolled; whether the focus is at the next one in the order of all that
 * Tab can reach, or at the first after the last; and whether it has been there before. Notes which one is next. The page may show or hide something
 * between two presses, so the next one of the order before the press is right, and so is the next one of the order after it.
 */
const STEP = `
  const order = [...document.querySelectorAll("*")].filter((node) => node.tabIndex >= 0 && !node.disabled && !node.matches("a:not([href])") && node.checkVisibility({ visibilityProperty: true }) && !node.closest("[inert]"));
  const nameOf = (node) => node?.outerHTML.slice(0, 120);
  const at = document.activeElement;
  const after = (node) => order[order.indexOf(node) + 1] ?? order[0];
  const { from, expected, reached } = window.tabbed ??= { reached: new Set(), expected: at };
  const isDone = reached.has(at);
  reached.add(at);
  window.tabbed.from = at;
  window.tabbed.expected = after(at);
  const top = ["html", "body", ".area", "main", ".place"].reduce((sum, css) => sum + document.querySelector(css).scrollTop, 0);
  return { top, isNext: at === expected || at === after(from), isDone, node: nameOf(at), expected: nameOf(expected), isRow: at.closest(".rows") !== null,
    // Rows come and go as one moves among them.
    missed: isDone ? order.filter((node) => !reached.has(node) && !node.closest(".rows")).map(nameOf) : undefined };`;

test("no_key_scrolls_the_frame_away_and_tab_reaches_everything", { skip, timeout: 240_000 }, async () => {
  const [TAB, ENTER] = ["\uE004", "\uE007"];
  const server = await serveTalk(longFrames());
  try {
    await browser.size(...SIZES.desk);
    await openScreen(browser, server.address, { hash: "#chat", steps: [(each) => each.waitFor(`return document.querySelectorAll("l3-foot").length > 5`)] });
    await browser.js(`document.activeElement.blur(); document.querySelector(".skip").focus()`);
    await browser.keys(ENTER);
    let step = await browser.js(STEP);
    let rows = 0;
    for (let press = 0; press < 1000 && !step.isDone; press += 1) {
      assert.equal(step.top, 0, step.node);
      assert.ok(step.isNext, `Tab went to ${step.node}, and not to ${step.expected}`);
      if (step.isRow) rows += 1;
      await browser.keys(TAB);
      // After the last one the focus is for a moment with the browser itself.
      if (await browser.js(`return document.activeElement === document.body`)) await browser.keys(TAB);
      step = await browser.js(STEP);
    }
    assert.deepEqual(step.missed, []);
    assert.ok(rows > 20, `${rows} of the rows took the focus`);
  } finally {
    server.end();
  }
});
