// Takes pictures of every screen, in light and dark, at the widths of a desk, a tablet and a phone.
// In the same looks come sheets of all screens of a server that is empty, fails or is gone, and in
// both themes those of a window of 320 pixels and of one at twice the size:
// `node tests/page/pictures.mjs ADDRESS FOLDER [webp|png] [part of a name]`. A server that was
// never talked to is talked to first. At WORKED, the address of another server, whose model is
// `support/scripted-model.mjs`, are the places in which the tour has no part. `scripts/screens`
// starts both.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBadLine } from "./support/bad-line.mjs";
import { fillCampaigns, fillOperator, fillRelay } from "./support/fill.mjs";
import { goToScreen, OFFLINE_SCREENS, openScreen, PAGES, PHONE_SCREENS, SAME, SCREENS, settled, SIZES, THEMES, VOICE_SCREENS, WINDOWS, WORKED_SCREENS } from "./support/screens.mjs";
import { sheetOf } from "./support/sheets.mjs";
import { EARS, handsOf, permit } from "./support/voice.mjs";
import { startBrowser } from "./support/webdriver.mjs";

const [address, folder, format = "webp", only = ""] = process.argv.slice(2);
const FORMAT = { format, ...(format === "webp" && { quality: 82 }) };
/** Sheets have many pictures, and so many bytes. */
const SHEET_FORMAT = { format, ...(format === "webp" && { quality: 60 }) };
/** How large pictures are on the sheets of a state. */
const SHOWN = { desk: 0.6, tablet: 0.6, phone: 0.8 };
const STATE_WINDOWS = Object.entries(SIZES).map(([name, size]) => ({ name, size, shown: SHOWN[name] }));
/** Messages that the tour understands, so that no place is empty. */
const SAID = ["Build a capability", "Run some SQL", "Remind me to water the plants in two hours"];

const browser = await startBrowser();
/** The tour, to a person whom it does not know. */
const outside = await startBadLine(address);
outside.be("stranger");
const { WORKED: worked } = process.env;
/** The screens of the other server. */
const isWorked = ({ name }) => /^(operator|campaign)/.test(name);
const onTour = SCREENS.filter((screen) => !isWorked(screen));
const onWorked = worked ? SCREENS.filter((screen) => isWorked(screen) && !SAME.includes(screen.name)) : [];
const afterWork = worked ? WORKED_SCREENS : [];
/** Addresses by the name of the screen: those of what is filled in first. */
const places = { task: "#tasks/1", relay_instance: "#relay/1", operator_task: "#operator/2", campaign: "#campaigns/1" };

const placed = (screen) => ({ ...screen, hash: places[screen.name] ?? screen.hash });

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
    await openScreen(browser, from, placed(screen));
    if (await browser.js(HAS_FONT)) return;
  }
}

const inTheme = (theme) => browser.media({ "prefers-color-scheme": theme, "prefers-reduced-motion": "reduce" });
const keep = (name, data) => writeFileSync(join(folder, `${name}.${format}`), Buffer.from(data, "base64"));
const shot = async (as) => (await browser.cdp("Page.captureScreenshot", as)).data;
/** The themes in which a picture is wanted. */
const themesOf = (name) => THEMES.filter((theme) => `${name}-${theme}`.includes(only));

/** Does it in each of these themes. The page follows the system's theme; a screen is not opened again for it. */
async function inEach(themes, taken) {
  for (const theme of themes) {
    await inTheme(theme);
    await settled(browser);
    await taken(theme);
  }
}

/** A picture of each of these screens, in each look. */
async function take(screens, { suffix = "", from = address, onPhone = [] } = {}) {
  for (const [window, size] of Object.entries(SIZES)) {
    await browser.size(...size);
    for (const screen of window === "phone" ? [...screens, ...onPhone] : screens) {
      const name = `${screen.name}${suffix}-${window}`;
      const themes = themesOf(name);
      if (themes.length === 0) continue;
      await opened(from, screen);
      // The rows of answers are loaded with the first of them.
      if (screen.hash === "#chat" && !places[screen.name]) await browser.waitFor(`return document.querySelector("[data-kind=user]") === null || document.querySelector("[data-testid=message-assistant]") !== null`);
      await inEach(themes, async (theme) => keep(`${name}-${theme}`, await shot(FORMAT)));
    }
  }
}

/** A sheet in each theme of the pictures that `show(taken)` has taken, one by one, in a window. */
async function sheets(name, { size, scale, shown = 1 }, show) {
  const themes = themesOf(`sheet-${name}`);
  if (themes.length === 0) return;
  const pictures = Object.fromEntries(themes.map((theme) => [theme, []]));
  await browser.size(...size, scale);
  await show((title) => inEach(themes, async (theme) => pictures[theme].push({ name: title, data: await shot({ format: "png" }) })));
  for (const theme of themes) keep(`sheet-${name}-${theme}`, await sheetOf(browser, pictures[theme], size.map((side) => Math.round(side * shown)), SHEET_FORMAT));
}

/** Has screens taken: pairs of a server's address and those of it. */
const each = (servers) => async (taken) => {
  for (const [from, screens] of servers) {
    for (const screen of screens) {
      await opened(from, screen);
      await taken(screen.name);
    }
  }
};

/** The screens that a server in such a state has. */
const inState = (state, screens) => screens.filter(({ only: when = state }) => when === state);

async function takeEmpty() {
  await take(SCREENS.slice(0, 1), { suffix: "-empty" });
  const empty = each([[address, inState("empty", onTour)], [outside.address, inState("empty", PAGES)], [worked, inState("empty", onWorked)]]);
  for (const one of STATE_WINDOWS) await sheets(`empty-${one.name}`, one, empty);
}

async function takeNarrow() {
  for (const [name, one] of Object.entries(WINDOWS)) {
    const onPhone = one.size[0] < 640 ? PHONE_SCREENS : [];
    await sheets(name, one, each([[address, [...onTour, ...onPhone]], [outside.address, PAGES], [worked, [...onWorked, ...afterWork]]]));
  }
}

/** Sheets of a server that fails, and of one that is gone. */
async function takeBad() {
  const lines = await Promise.all([address, worked].filter(Boolean).map(startBadLine));
  const [tour, other] = lines;
  try {
    for (const line of lines) line.be("failing");
    const failing = each([[tour.address, inState("failing", [...onTour, ...PAGES])], [other?.address, inState("failing", onWorked)]]);
    for (const one of STATE_WINDOWS) await sheets(`failing-${one.name}`, one, failing);
    for (const one of STATE_WINDOWS) {
      await sheets(`offline-${one.name}`, one, async (taken) => {
        await walkOffline(tour, OFFLINE_SCREENS.filter((screen) => !isWorked(screen)), taken);
        if (other) await walkOffline(other, OFFLINE_SCREENS.filter(isWorked), taken);
      });
    }
  } finally {
    for (const line of lines) line.end();
  }
}

/** Visits these screens, and once more when the server is gone, with a message that is not sent and another that is begun. */
async function walkOffline(line, screens, taken) {
  const goes = (screen) => goToScreen(browser, line.address, placed(screen));
  line.be("up");
  await opened(line.address, SCREENS[0]);
  for (const screen of screens) await goes(screen);
  await goes(SCREENS[0]);
  line.be("down");
  await browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=offline]") !== null`);
  await write("Which capabilities are there?", true);
  await write("And then", false);
  for (const screen of screens) {
    await goes(screen);
    await taken(screen.name);
  }
  // Nothing of it is sent when the line is up again.
  await browser.js(`sessionStorage.clear()`);
  await browser.go("about:blank");
}

/** Speaks with Law before there are pictures of calls: a task, an answer, and a timer that runs. */
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
  const wanted = VOICE_SCREENS.filter(({ name }) => name.includes(only) || only.startsWith(name));
  if (wanted.length === 0) return;
  await talk();
  for (const screen of wanted) {
    await allow(screen.voice ?? 60);
    await take([screen]);
  }
  await allow(60);
}

/** Writes a message, and sends it or leaves it there. */
const write = (text, isSent) =>
  browser.js(`const field = document.querySelector("[data-testid=composer]"); field.value = arguments[0]; field.dispatchEvent(new Event("input", { bubbles: true })); if (arguments[1]) document.querySelector("[data-testid=send]").click()`, text, isSent);

/** Says it as a person does, and waits until the turn is over. */
async function say(text) {
  const turns = await browser.js(`return document.querySelectorAll("[data-kind=user]").length`);
  await write(text, true);
  const over = `return document.querySelectorAll("[data-kind=user]").length > arguments[0] && document.querySelector("[data-testid=stop]").hidden && [...document.querySelectorAll("[data-kind=assistant]")].length > arguments[0]`;
  await browser.waitFor(over, turns);
}

/** Fills a server that has nothing yet. */
async function fill(at, path, has, work) {
  const answer = await (await fetch(new URL(path, at))).json();
  if (has(answer).length === 0) Object.assign(places, await work(at));
}

/** Fills the other server. The question that waits is last, and in a conversation of its own. */
async function fillWorked() {
  await fill(worked, "/api/operator/tasks", ({ tasks }) => tasks, fillOperator);
  await fill(worked, "/api/campaigns", ({ campaigns }) => campaigns, fillCampaigns);
  await openScreen(browser, worked, SCREENS[0]);
  if (await browser.js(`return document.querySelector("[data-kind=user]") !== null`)) return;
  await say("What was sold?");
  const conversations = async (method) => (await fetch(new URL("/api/conversations", worked), { method })).json();
  places.chart = `#chat/${(await conversations("GET")).conversations.find(({ main }) => main).id}`;
  places.approval = `#chat/${(await conversations("POST")).conversation}`;
  await openScreen(browser, worked, { ...SCREENS[0], hash: places.approval });
  await write("Build something that tells the weather", true);
  await browser.waitFor(`return document.querySelector("l3-approval[data-state=pending] form") !== null`);
}

try {
  mkdirSync(folder, { recursive: true });
  await openScreen(browser, address, SCREENS[0]);
  if (await browser.js(`return document.querySelector("[data-kind=user]") === null && document.querySelector("[data-model=tour]") !== null`)) {
    await takeEmpty();
    await browser.size(...SIZES.desk);
    await openScreen(browser, address, SCREENS[0]);
    for (const text of SAID) await say(text);
  }
  await fill(address, "/api/relay/instances", ({ instances }) => instances, fillRelay);
  if (worked) await fillWorked();
  await take(onTour, { onPhone: PHONE_SCREENS });
  await take(PAGES, { from: outside.address });
  await take([...onWorked, ...afterWork], { from: worked });
  await takeNarrow();
  await takeBad();
  await takeCalls();
} finally {
  await browser.end();
  outside.end();
}
