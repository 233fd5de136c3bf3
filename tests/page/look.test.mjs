// The look that a person chooses in Settings, in a real browser: each switch, what it does at once,
// and that a reload keeps it.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { load } from "./load.mjs";
import { serveTalk } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const options = { skip, timeout: 120_000 };
const { default: en } = await load("words/en-settings.js");
const { default: ptPage } = await load("words/pt.js");
const { default: pt } = await load("words/pt-settings.js");
const LIGHT = "rgb(251, 250, 247)";
const DARK = "rgb(24, 23, 21)";

let browser;
let server;
before(async () => {
  if (skip) return;
  browser = await startBrowser();
  server = await serveTalk();
});
after(async () => {
  await browser?.end();
  server?.end();
});
beforeEach(async () => {
  if (skip) return;
  await browser.media({ "prefers-color-scheme": "light", "prefers-reduced-motion": "reduce" });
  await browser.go(`${server.address}?fresh`);
  await browser.js(`localStorage.clear()`);
  await open();
});

async function open() {
  await browser.go("about:blank");
  await browser.go(`${server.address}#settings/look`);
  await browser.waitFor(`return document.querySelector("[data-testid=settings-look] [role=switch]") !== null`);
}
const choose = (value) => browser.js(`document.querySelector("[data-testid=settings-look] [data-value=" + arguments[0] + "]").click()`, value);
const chosen = () => browser.js(`return [...document.querySelectorAll("[data-testid=settings-look] [aria-checked=true]")].map((node) => node.dataset.value)`);
const look = () => browser.js(`return getComputedStyle(document.body).backgroundColor`);
const letters = () => browser.js(`return ["html", "[data-testid=settings-look] h2"].map((css) => parseFloat(getComputedStyle(document.querySelector(css)).fontSize))`);

test("a_theme_holds_at_once_and_over_a_reload_whatever_the_system_says", options, async () => {
  assert.deepEqual([await look(), (await chosen())[0]], [LIGHT, "system"]);
  await choose("dark");
  assert.equal(await look(), DARK);
  await open();
  assert.deepEqual([await look(), (await chosen())[0]], [DARK, "dark"]);
  await browser.media({ "prefers-color-scheme": "dark" });
  await choose("light");
  assert.equal(await look(), LIGHT);
  await choose("system");
  assert.equal(await look(), DARK);
  await open();
  assert.deepEqual([await look(), (await chosen())[0]], [DARK, "system"]);
});

test("a_size_of_text_holds_at_once_and_over_a_reload", options, async () => {
  const [whole, heading] = await letters();
  for (const [size, times] of [["large", 1.125], ["larger", 1.25]]) {
    await choose(size);
    assert.deepEqual(await letters(), [whole * times, heading * times]);
  }
  await open();
  assert.deepEqual([await letters(), (await chosen())[1]], [[whole * 1.25, heading * 1.25], "larger"]);
  await choose("normal");
  assert.deepEqual(await letters(), [whole, heading]);
});

test("a_language_holds_after_the_page_is_loaded_again", options, async () => {
  const pick = (language) => browser.js(`const node = document.querySelector("[data-testid=settings-look] select"); node.value = arguments[0]; node.dispatchEvent(new Event("change"))`, language);
  const told = () => browser.js(`return { lang: document.documentElement.lang, title: document.querySelector("l3-header h1").innerText, part: document.querySelector("[data-testid=settings-look] h2").innerText, chosen: document.querySelector("[data-testid=settings-look] select").value }`);
  await pick("pt");
  await open();
  assert.deepEqual(await told(), { lang: "pt", title: ptPage.places.settings, part: pt.sections.look, chosen: "pt" });
  await pick("en");
  await open();
  assert.deepEqual(await told(), { lang: "en", title: "Settings", part: en.sections.look, chosen: "en" });
});

test("notifications_are_on_only_if_the_browser_allows_them", options, async () => {
  const origin = new URL(server.address).origin;
  const allow = (setting) => browser.cdp("Browser.setPermission", { permission: { name: "notifications" }, setting, origin });
  const press = () => browser.js(`document.querySelector("[data-testid=settings-look] [role=switch]").click()`);
  const isOn = () => browser.js(`return [document.querySelector("[data-testid=settings-look] [role=switch]").checked, JSON.parse(localStorage.getItem("level3.settings") ?? "{}").notify ?? false]`);
  const becomes = (on) => browser.waitFor(`return (JSON.parse(localStorage.getItem("level3.settings") ?? "{}").notify ?? false) === arguments[0]`, on);
  await allow("denied");
  await press();
  await browser.waitFor(`return document.querySelector(".toast")?.innerText === arguments[0]`, en.notifyRefused);
  assert.deepEqual(await isOn(), [false, false]);
  await allow("granted");
  await press();
  await becomes(true);
  assert.deepEqual(await isOn(), [true, true]);
  await open();
  assert.deepEqual(await isOn(), [true, true]);
  // The browser was told otherwise meanwhile: the switch does not say what is not so.
  await allow("denied");
  await open();
  assert.equal((await isOn())[0], false);
  await allow("granted");
  await open();
  await press();
  await becomes(false);
  assert.deepEqual(await isOn(), [false, false]);
});
