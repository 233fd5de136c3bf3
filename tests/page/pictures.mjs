// Takes pictures of every screen, in light and dark, at the widths of a desk, a tablet and a phone:
// `node tests/page/pictures.mjs ADDRESS FOLDER [webp|png]`. A server that was never talked to is talked to first; `scripts/screens` starts one.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openScreen, PHONE_SCREENS, SCREENS } from "./support/screens.mjs";
import { startBrowser } from "./support/webdriver.mjs";

const [address, folder, format = "webp", only = ""] = process.argv.slice(2);
const SIZES = { desk: [1440, 900], tablet: [820, 1100], phone: [390, 844] };
/** Messages that the tour understands, so that no place is empty. */
const SAID = ["Build a capability", "Run some SQL", "Remind me to water the plants in two hours"];

const browser = await startBrowser();

async function take(screens, suffix = "") {
  for (const theme of ["light", "dark"]) {
    await browser.media({ "prefers-color-scheme": theme, "prefers-reduced-motion": "reduce" });
    for (const [name, size] of Object.entries(SIZES)) {
      await browser.size(...size);
      const shown = name === "phone" ? [...screens, ...(suffix ? [] : PHONE_SCREENS)] : screens;
      for (const screen of shown.filter((each) => each.name.includes(only))) {
        await openScreen(browser, address, screen);
        // The rows of answers are loaded with the first of them.
        if (screen.hash === "#chat") await browser.waitFor(`return document.querySelector("[data-kind=user]") === null || document.querySelector("[data-testid=message-assistant]") !== null`);
        const { data } = await browser.cdp("Page.captureScreenshot", { format, ...(format === "webp" && { quality: 82 }) });
        writeFileSync(join(folder, `${screen.name}${suffix}-${name}-${theme}.${format}`), Buffer.from(data, "base64"));
      }
    }
  }
}

/** Says it as a person does, and waits until the turn is over. */
async function say(text) {
  const turns = await browser.js(`return document.querySelectorAll("[data-kind=user]").length`);
  await browser.js(`const field = document.querySelector("[data-testid=composer]"); field.value = arguments[0]; field.dispatchEvent(new Event("input", { bubbles: true })); document.querySelector("[data-testid=send]").click()`, text);
  const over = `return document.querySelectorAll("[data-kind=user]").length > arguments[0] && document.querySelector("[data-testid=stop]").hidden && [...document.querySelectorAll("[data-kind=assistant]")].length > arguments[0]`;
  await browser.waitFor(over, turns);
}

try {
  mkdirSync(folder, { recursive: true });
  const [chat] = SCREENS;
  await openScreen(browser, address, chat);
  if (await browser.js(`return document.querySelector("[data-kind=user]") === null && document.querySelector("[data-model=tour]") !== null`)) {
    await take([chat], "-empty");
    await openScreen(browser, address, chat);
    for (const text of SAID) await say(text);
  }
  await take(SCREENS);
} finally {
  await browser.end();
}
