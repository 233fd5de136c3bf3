// Takes pictures of every screen, in light and dark, at the widths of a desk, a tablet and a phone:
// `node tests/page/pictures.mjs ADDRESS FOLDER [webp|png] [part of a name]`. A server that was
// never talked to is talked to first. At WORKED, the address of another server, whose model is
// `support/scripted-model.mjs`, are the places in which the tour has no part. `scripts/screens`
// starts both.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fillCampaigns, fillOperator, fillRelay } from "./support/fill.mjs";
import { openScreen, PHONE_SCREENS, SCREENS, VOICE_SCREENS } from "./support/screens.mjs";
import { EARS, handsOf, permit } from "./support/voice.mjs";
import { startBrowser } from "./support/webdriver.mjs";

const [address, folder, format = "webp", only = ""] = process.argv.slice(2);
const SIZES = { desk: [1440, 900], tablet: [820, 1100], phone: [390, 844] };
/** Messages that the tour understands, so that no place is empty. */
const SAID = ["Build a capability", "Run some SQL", "Remind me to water the plants in two hours"];

const browser = await startBrowser();
const { WORKED: worked } = process.env;
/** The screens of the other server. */
const isWorked = ({ name }) => /^(operator|campaign)/.test(name);
/** Pictures that would be as another one, since only what is folded away differs. */
const SAME = ["campaign_forms"];
/** Addresses by the name of the screen: those of what is filled in first. */
const places = { relay_instance: "#relay/1", operator_task: "#operator/2", campaign: "#campaigns/1" };

/** True if the page has its own font: on a busy machine it may do without, and then it is looked at once more. */
const HAS_FONT = `
  const probe = document.body.appendChild(document.createElement("span"));
  const width = (font) => (probe.style.font = "40px " + font, probe.getBoundingClientRect().width);
  probe.textContent = "Whether it is there";
  probe.style.position = "absolute";
  const [own, other] = [width(getComputedStyle(document.body).fontFamily), width("system-ui, sans-serif")];
  probe.remove();
  return own !== other;`;
/** So often, since a machine may be too busy for good. */
const TRIES = 6;

async function opened(from, screen) {
  for (let turn = 0; turn < TRIES; turn += 1) {
    await openScreen(browser, from, screen);
    if (await browser.js(HAS_FONT)) return;
  }
}

/** Fills a server that has nothing yet, if there are to be pictures of that place. */
async function fill(place, at, path, has, work) {
  if (!SCREENS.some(({ name }) => name.startsWith(place) && name.includes(only))) return;
  const answer = await (await fetch(new URL(path, at))).json();
  if (has(answer).length === 0) Object.assign(places, await work(at));
}

async function take(screens, { suffix = "", from = address, extra = suffix || from !== address ? [] : PHONE_SCREENS } = {}) {
  for (const theme of ["light", "dark"]) {
    await browser.media({ "prefers-color-scheme": theme, "prefers-reduced-motion": "reduce" });
    for (const [name, size] of Object.entries(SIZES)) {
      await browser.size(...size);
      const shown = name === "phone" ? [...screens, ...extra] : screens;
      for (const screen of shown.filter((each) => each.name.includes(only) && !SAME.includes(each.name))) {
        await opened(from, { ...screen, hash: places[screen.name] ?? screen.hash });
        // The rows of answers are loaded with the first of them.
        if (screen.hash === "#chat") await browser.waitFor(`return document.querySelector("[data-kind=user]") === null || document.querySelector("[data-testid=message-assistant]") !== null`);
        const { data } = await browser.cdp("Page.captureScreenshot", { format, ...(format === "webp" && { quality: 82 }) });
        writeFileSync(join(folder, `${screen.name}${suffix}-${name}-${theme}.${format}`), Buffer.from(data, "base64"));
      }
    }
  }
}

/** What is said in calls with Law before there are pictures of them: a task, an answer, and a timer that runs. */
async function talk() {
  const { is, says, press } = handsOf(() => browser);
  await openScreen(browser, address, { hash: "#assistant", steps: [] });
  await permit(browser, new URL(address).origin, "granted");
  await browser.js(EARS);
  await press("[data-testid=talk-law]");
  await says("[data-testid=voice-state]", "Law listens");
  await browser.js(`window.hear("add buy milk", true)`);
  await says(".talking", "Should I create a task called");
  await browser.js(`window.hear("go ahead", true)`);
  await says(".talking", "Created the task");
  await browser.js(`window.hear("timer 25 minutes", true)`);
  await is(`document.querySelector("l3-dock l3-timer") !== null`);
  await press("[data-testid=voice-end]");
  await says("[data-testid=voice-state]", "Call ended");
}

/** Gives the tier of the owner so many minutes of voice. */
const allow = (minutes) => fetch(new URL("/api/tiers/paid", address), { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify({ messages_per_day: 500, voice_minutes_per_month: minutes }) });

/** Pictures of calls, which are last: a timer runs in them. */
async function takeCalls() {
  const wanted = VOICE_SCREENS.filter(({ name }) => name.includes(only));
  if (wanted.length === 0) return;
  await talk();
  for (const screen of wanted) {
    await allow(screen.voice ?? 60);
    await take([screen], { extra: [] });
  }
  await allow(60);
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
    await take([chat], { suffix: "-empty" });
    await openScreen(browser, address, chat);
    for (const text of SAID) await say(text);
  }
  await fill("relay", address, "/api/relay/instances", ({ instances }) => instances, fillRelay);
  await take(SCREENS.filter((screen) => !isWorked(screen)));
  await takeCalls();
  if (worked) {
    await fill("operator", worked, "/api/operator/tasks", ({ tasks }) => tasks, fillOperator);
    await fill("campaign", worked, "/api/campaigns", ({ campaigns }) => campaigns, fillCampaigns);
    await take(SCREENS.filter(isWorked), { from: worked });
  }
} finally {
  await browser.end();
}
