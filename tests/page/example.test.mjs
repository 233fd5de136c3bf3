// A new place is a folder and a line: it appears in the rail, in the bar of a phone and in the
// palette, with a badge and an address, and no other file knows of it. Here the server adds both to
// what it serves.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { openScreen } from "./support/screens.mjs";
import { serveScreens } from "./support/screens-server.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { fullWorld } from "./support/worlds.mjs";

const PLACE = readFileSync(new URL("support/example-place.js", import.meta.url), "utf8");
const LINE = `  { id: "example", title: "Example", icon: "M4 4h12v12H4z", order: 2.5, badge: () => 3, accent: "var(--warn)", load: () => import("../example/index.js") },\n];`;
const PHONE = [390, 844];
const DESK = [1440, 900];
const ENTER = "\uE007";
const ESCAPE = "\uE00C";

let browser;
let server;
before(async () => {
  if (skip) return;
  server = await serveScreens(fullWorld(Date.now()), ({ path, text }) => {
    if (path === "example/index.js") return PLACE;
    return path === "shell/places.js" ? text.replace(/^\];$/m, LINE) : text;
  });
  browser = await startBrowser();
});
after(async () => {
  await browser?.end();
  server?.end();
});

const open = (hash) => openScreen(browser, server.address, { hash, steps: [] });
const seen = (css) => browser.waitFor(`return document.querySelector(arguments[0])?.checkVisibility() && document.querySelector(arguments[0]).innerText`, css);
const click = (css) => browser.js(`document.querySelector(arguments[0]).click()`, css);

test("it_has_thirty_lines", () => assert.ok(PLACE.trim().split("\n").length <= 30));

test("it_stands_in_the_rail_with_a_badge_in_its_order", { skip }, async () => {
  await browser.size(...DESK);
  await open("#tasks");
  const rail = await browser.js(`return [...document.querySelectorAll("l3-rail-place")].map((node) => node.innerText.replaceAll("\u00AD", "").replace(/\\s+/g, " ").trim())`);
  assert.deepEqual(rail.map((text) => text.match(/[A-Z][a-z]+/)[0]).slice(0, 4), ["Chat", "Assistant", "Tasks", "Example"]);
  assert.match(rail[3], /3/);
  assert.equal(await browser.js(`return document.querySelector("[data-testid=place-example] path").getAttribute("d")`), "M4 4h12v12H4z", "a mark of its own");
  await click("[data-testid=place-example]");
  assert.match(await seen("[data-testid=example]"), /Nothing chosen/);
  assert.equal(await browser.js("return location.hash"), "#example");
});

test("its_entry_has_its_accent_while_it_is_open_and_no_other_has", { skip }, async () => {
  await browser.size(...DESK);
  await open("#example");
  await seen("[data-testid=example]");
  const entries = () => browser.js(`
    const probe = document.body.appendChild(document.createElement("p"));
    const of = (token) => ((probe.style.color = \`var(\${token})\`), getComputedStyle(probe).color);
    const colours = [...document.querySelectorAll("l3-rail-place a")].map((node) => [node.dataset.testid, getComputedStyle(node).color]);
    const named = Object.fromEntries(["--warn", "--accent"].map((token) => [of(token), token]));
    probe.remove();
    return colours.flatMap(([place, colour]) => (named[colour] ? [[place, named[colour]]] : []));`);
  assert.deepEqual(await entries(), [["place-example", "--warn"]]);
  await click("[data-testid=place-tasks]");
  await browser.waitFor(`return document.querySelector("[data-testid=place-tasks][aria-current]") !== null`);
  assert.deepEqual(await entries(), [["place-tasks", "--accent"]]);
});

test("an_address_below_it_a_reload_and_back_lead_there", { skip }, async () => {
  await browser.size(...DESK);
  await open("#example/first");
  await browser.waitFor(`return document.querySelector("[data-testid=example] h2")?.textContent === "Chosen: first"`);
  assert.equal(await seen("h1"), "first");
  await click("[data-testid=example-next]");
  await browser.waitFor(`return document.querySelector("[data-testid=example] h2")?.textContent === "Chosen: second"`);
  await browser.js("history.back()");
  await browser.waitFor(`return document.querySelector("[data-testid=example] h2")?.textContent === "Chosen: first"`);
});

test("the_palette_knows_it", { skip }, async () => {
  await browser.size(...DESK);
  await open("#tasks");
  await browser.js(`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true }))`);
  await seen("[data-testid=palette]").catch(() => undefined);
  await browser.waitFor(`return document.activeElement?.dataset.testid === "palette"`);
  await browser.keys(..."exam", ENTER);
  assert.match(await seen("[data-testid=example]"), /open/);
});

test("details_opened_in_it_close_with_escape_and_with_its_address", { skip }, async () => {
  await browser.size(...DESK);
  await open("#example");
  await seen("[data-testid=example]");
  await browser.js(`const node = document.querySelector("[data-testid=example-open]"); node.focus(); node.click()`);
  assert.match(await seen("[data-testid=details]"), /Its details/);
  await browser.keys(ESCAPE);
  assert.equal(await browser.js(`return document.querySelector("[data-testid=details]") ?? document.activeElement.dataset.testid`), "example-open");
  await click("[data-testid=example-open]");
  await seen("[data-testid=details]");
  await click("[data-testid=example-next]");
  await browser.waitFor(`return document.querySelector("[data-testid=details]") === null`);
});

test("on_a_phone_it_is_in_the_bar_and_what_has_no_room_is_under_more", { skip }, async () => {
  await browser.size(...PHONE);
  await open("#tasks");
  const inBar = await browser.js(`return [...document.querySelectorAll(".rail-place")].filter((node) => node.checkVisibility()).map((node) => node.dataset.testid ?? "more")`);
  assert.deepEqual(inBar, ["place-chat", "place-assistant", "place-tasks", "place-example", "more"]);
  const badge = await browser.js(`
    const node = document.querySelector("[data-testid=place-example] .badge");
    const { left, top, width, height } = node.getBoundingClientRect();
    return { text: node.firstChild.textContent, onTop: document.elementFromPoint(left + width / 2, top + height / 2).closest(".badge") === node, inBar: node.closest("l3-rail").getBoundingClientRect().top <= top };`);
  assert.deepEqual(badge, { text: "3", onTop: true, inBar: true });
  await click(".rail-more");
  assert.deepEqual((await seen(".menu")).replaceAll("\u00AD", "").split(/\s+/), ["Relay", "Operator", "Campaigns", "Capabilities", "Activity", "Settings"]);
});
