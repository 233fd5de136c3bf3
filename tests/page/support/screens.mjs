// The screens of the page: how one gets to each. For tests that look at all of them, and for the
// pictures in `docs/screens`.

import { EARS, permit } from "./voice.mjs";

const ready = (browser) => browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=connected]") !== null`);
const shown = (css) => (browser) => browser.waitFor(`return document.querySelector(arguments[0])?.checkVisibility() === true`, css);
const press = (key, keys = {}) => (browser) =>
  browser.js(`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: arguments[0], bubbles: true, cancelable: true, ...arguments[1] }))`, key, keys);
const click = (css) => (browser) => browser.js(`document.querySelector(arguments[0]).click()`, css);

const sheet = (place) => shown(`[data-place=${place}] .sheet`);
/** The answer came, or is said not to come. */
const came = (place, css) => shown(`[data-place=${place}] :is(${css}, .error-state, [data-testid=empty])`);

/** A press on such a tab, if there is one. */
const openTab = (text) => (browser) => browser.js(`[...document.querySelectorAll("[role=tab]")].find((node) => node.textContent.startsWith(arguments[0]))?.click()`, text);

/** Such a thing stands in the middle of what is seen. */
const toSight = (css) => (browser) => browser.js(`document.querySelector(arguments[0]).scrollIntoView({ block: "center", behavior: "instant" })`, css);

/** All that is folded away of such. */
const openAll = (css) => (browser) => browser.js(`for (const node of document.querySelectorAll(arguments[0])) node.open = true`, css);

/** The steps of the first turn, opened. */
const opened = [shown("[data-testid=steps]"), click("[data-testid=steps] summary"), shown(".steps-list")];

/** The list of conversations, which a narrow window shows on a press. */
const openList = (browser) => browser.js(`if (!document.querySelector(".conversation-panel")?.checkVisibility()) document.querySelector("[data-testid=list-open]").click()`);

/** Each with an address, and what is done there. */
export const SCREENS = [
  { name: "chat", hash: "#chat", steps: [shown("l3-messages:not([hidden])")] },
  { name: "steps", only: "full", hash: "#chat", steps: [...opened, toSight("[data-testid=steps] summary")] },
  { name: "call", only: "full", hash: "#chat", steps: [...opened, click(".steps-list summary"), shown(".tool-body"), toSight(".tool-body")] },
  { name: "menu", only: "full", hash: "#chat", steps: [shown("l3-messages:not([hidden])"), openList, shown("l3-conversation .icon-button"), click("l3-conversation .icon-button"), shown(".menu")] },
  { name: "palette", hash: "#chat", steps: [press("k", { ctrlKey: true }), shown("[data-testid=palette]")] },
  { name: "shortcuts", hash: "#chat", steps: [press("?"), shown("[data-testid=shortcuts]")] },
  { name: "approvals", hash: "#approvals", steps: [sheet("approvals")] },
  { name: "assistant", hash: "#assistant", steps: [shown("[data-testid=picker]")] },
  { name: "lea", hash: "#assistant/lea", steps: [shown(".talking l3-composer, [data-place=assistant] .error-state")] },
  { name: "tasks", hash: "#tasks", steps: [sheet("tasks")] },
  { name: "tasks_week", hash: "#tasks/week", steps: [sheet("tasks")] },
  { name: "task", hash: "#tasks/2", steps: [shown("[data-testid=task-form], [data-place=tasks] .error-state")] },
  { name: "relay", hash: "#relay", steps: [sheet("relay"), shown("[data-place=relay] :is(l3-relay-instance, .error-state, [data-testid=empty]:not([hidden]))")] },
  { name: "relay_instance", hash: "#relay/7", steps: [shown(".relay-detail :is(l3-relay-message, .error-state)")] },
  { name: "operator", hash: "#operator", steps: [shown("[data-place=operator] :is(l3-operator-task, .error-state, [data-testid=empty]:not([hidden]))")] },
  { name: "operator_task", hash: "#operator/3", steps: [shown("[data-testid=operator-course] :is(.operator-steps, .error-state)")] },
  { name: "campaigns", hash: "#campaigns", steps: [sheet("campaigns"), shown("[data-place=campaigns] :is(l3-campaign-part, .error-state, [data-testid=empty]:not([hidden]))")] },
  { name: "campaign", hash: "#campaigns/3", steps: [shown(".campaigns-detail :is(l3-campaign-part, .error-state)")] },
  { name: "campaign_forms", only: "full", hash: "#campaigns/3", steps: [shown(".campaigns-detail l3-campaign-part"), openAll(".campaigns-more"), shown("[data-testid=campaigns-allow-count]")] },
  { name: "capability", hash: "#capabilities/roman_numeral", steps: [shown("[data-testid=schema-form], .capability-detail .error-state")] },
  ...["Source", "Versions", "Tests", "What"].map((tab) => ({ name: `capability_${tab.toLowerCase()}`, hash: "#capabilities/roman_numeral", steps: [shown("[data-testid=schema-form], .capability-detail .error-state"), openTab(tab)] })),
  { name: "capabilities", hash: "#capabilities", steps: [sheet("capabilities")] },
  { name: "activity", hash: "#activity", steps: [came("activity", ".events > li")] },
  { name: "replay", hash: "#activity/turn/1", steps: [came("activity", "[data-testid=replay-event]")] },
  { name: "usage", hash: "#activity/usage", steps: [came("activity", ".usage-body > section")] },
  { name: "settings", hash: "#settings", steps: [sheet("settings")] },
  ...["me", "model", "policy", "budgets", "users", "tiers", "secrets", "mcp", "look", "server"].map((part) => ({ name: `settings_${part}`, hash: `#settings/${part}`, steps: [sheet("settings")] })),
  { name: "nowhere", hash: "#nowhere", steps: [shown("main > .place:not([data-place]) [data-testid=empty]")] },
];

/** True for a part of the settings: it is the whole page, of which another part is in sight. */
export const isPart = ({ name }) => name.startsWith("settings_");

/** The test phone has been asked for its messages. */
const phoneCame = (browser) => browser.waitFor(`return performance.getEntriesByType("resource").some(({ name }) => name.includes("/api/relay/loopback?"))`);

/** Pages beside the one with the places. For a `stranger` the server does not know who asks. */
export const PAGES = [
  { name: "sign_in", only: "stranger", path: "sign-in", hash: "", steps: [shown("#name")] },
  { name: "new_password", only: "stranger", path: "sign-in", hash: `#${"0f".repeat(32)}`, steps: [shown("#again")] },
  { name: "loopback", path: "loopback", hash: `#${encodeURIComponent("+491705550101")}`, steps: [shown("#say"), phoneCame] },
];

/** Their pictures would be as another one's, since only what is folded away differs. */
export const SAME = ["campaign_forms"];

/** The looks in which each screen has a picture. */
export const SIZES = { desk: [1440, 900], tablet: [820, 1100], phone: [390, 844] };
export const THEMES = ["light", "dark"];

/** Windows in which little has room: a small phone, and a desk on which everything is twice as large. */
export const WINDOWS = { 320: { size: [320, 640] }, zoom: { size: [720, 450], scale: 2 } };

/** Those that a model has to have worked for: rows that were drawn, and a question that waits, where it was asked and in the inbox. */
export const WORKED_SCREENS = [
  { name: "chart", hash: "#chat", steps: [...opened, click(".steps-list summary"), shown("[data-testid=chart-open]"), click("[data-testid=chart-open]"), shown(".chart-canvas canvas[role=img]"), toSight("rows-chart")] },
  { name: "approval", hash: "#chat", steps: [shown("l3-approval .deny"), toSight("l3-approval .approval-card > header")] },
  { name: "inbox", hash: "#approvals", steps: [shown("[data-testid=approvals-waiting] .deny")] },
];

/** Those to which an address leads in a page that is there already, as it is while the server cannot be reached: one for each address. */
export const OFFLINE_SCREENS = SCREENS.filter(({ hash, only }, index) => !only && SCREENS.findIndex((each) => each.hash === hash) === index);

/** Screens that are there only in a window of some width. */
export const PHONE_SCREENS = [
  { name: "list", hash: "#chat", steps: [click("[data-testid=list-open]"), shown(".conversation-panel")] },
  { name: "more", hash: "#tasks", steps: [sheet("tasks"), click(".rail-more"), shown(".menu")] },
];

const put = (script) => (browser) => browser.js(script);
const listens = (browser) => browser.waitFor(`return document.querySelector("[data-testid=voice-state]")?.textContent.includes("Law listens")`);
const microphone = (setting) => (browser, address) => permit(browser, new URL(address).origin, setting);
const called = [microphone("granted"), shown("[data-testid=picker]"), put(EARS), click("[data-testid=talk-law]"), listens];

/**
 * A call with Law, in a browser with ears that are put in. Leaving the page ends the call. `voice` is how many minutes a month the paid tier has
 * meanwhile, if not 60.
 */
export const VOICE_SCREENS = [
  { name: "law_call", hash: "#assistant", steps: [...called, put(`window.hear("add buy", false)`), shown("[data-testid=voice-interim]")] },
  { name: "law_indicator", hash: "#assistant", steps: [...called, click("[data-testid=place-tasks]"), shown("[data-testid=call-indicator]"), shown("l3-timer")] },
  { name: "law_permission", hash: "#assistant", steps: [microphone("denied"), shown("[data-testid=picker]"), put(EARS), click("[data-testid=talk-law]"), shown("[data-testid=voice-problem] strong")] },
  { name: "law_upgrade", voice: 0, hash: "#assistant", steps: [microphone("granted"), shown("[data-testid=picker]"), put(EARS), click("[data-testid=talk-law]"), shown("[data-testid=voice-upgrade]")] },
];

/** Things that enter have entered, and fonts are there. */
export const settled = (browser) =>
  browser.later(`const done = arguments[0]; document.fonts.ready.then(() => Promise.all(document.getAnimations().filter((each) => each.effect.getTiming().iterations === 1).map((each) => each.finished))).then(() => requestAnimationFrame(() => requestAnimationFrame(() => done())), () => done())`);

let loads = 0;

/**
 * Opens a screen of the server at `address`, from a fresh load: with an address that is not the one before, and not by way of an empty page, for
 * which the browser would forget the font.
 */
export async function openScreen(browser, address, { hash, steps, path }) {
  loads += 1;
  await browser.go(`${address}${path ?? ""}?${loads}${hash}`);
  if (path === undefined) await ready(browser);
  for (const step of steps) await step(browser, address);
  await settled(browser);
}

/** Goes to a screen of `OFFLINE_SCREENS` in the page that is there. */
export async function goToScreen(browser, address, { hash, steps }) {
  await browser.js("location.hash = arguments[0]", hash);
  for (const step of steps) await step(browser, address);
  // A place that is being put in is empty for a moment.
  await browser.waitFor(`return document.querySelector("main > .place:not([hidden])")?.firstElementChild && [...document.querySelectorAll("main l3-waiting")].every((node) => !node.checkVisibility())`);
  await settled(browser);
}
