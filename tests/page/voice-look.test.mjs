// A call with Law as it looks, in a real browser with ears and a mouth that are put in: axe-core
// finds nothing in any state, and the line of a call stands above the dock and covers nothing, at
// three widths and in both themes.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { axe } from "./support/axe.mjs";
import { serveTodos } from "./support/todo-server.mjs";
import { EARS, handsOf, lawWorld, opensPicker, permit, putsFirst } from "./support/voice.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const LAW = 22;
/** Pictures of what was looked at go here, if somebody wants to see them. */
const PICTURES = process.env.VOICE_PICTURES;
let browser;
let server;
before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.end());
afterEach(() => {
  server?.end();
  server = undefined;
});

const { is, sees, says, press } = handsOf(() => browser);
async function picture(name) {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(`${PICTURES}/${name}.png`, await browser.shot());
}

/** The page at the picker. `voice` is what the server says of the month. */
async function opens({ size = [1440, 900], theme = "light", role = "owner", voice = {}, denied = false, local } = {}) {
  const begun = [];
  server = await serveTodos({ role, ...lawWorld({ role, voice, told: (what, body) => what === "begin" && begun.push(body) }) });
  server.assistant.timer = { state: "paused", minutes: 25, task: null, ends_at: null, left_ms: 600_000 };
  await browser.size(...size);
  await browser.media({ "prefers-color-scheme": theme, "prefers-reduced-motion": "reduce" });
  await permit(browser, server.address, denied ? "denied" : "granted");
  const takesOut = await putsFirst(browser, `${EARS} window.local = ${JSON.stringify(local)};`);
  await opensPicker(browser, server, { voice: voice.voice });
  await takesOut();
  await browser.js(`localStorage.clear()`);
  return { begun };
}

const option = { skip, timeout: 240_000 };
const WINDOWS = [["desk", [1440, 900]], ["tablet", [820, 1180]], ["phone", [390, 844]]];

for (const theme of ["light", "dark"]) {
  for (const [window, size] of WINDOWS) {
    test(`a_call_is_seen_in_every_state_${window}_${theme}`, option, async () => {
      await opens({ size, theme });
      const looks = async (name) => {
        assert.deepEqual(await axe(browser), [], name);
        const wide = await browser.js(`return document.documentElement.scrollWidth > innerWidth`);
        assert.equal(wide, false, `${name} is no wider than the window`);
        await picture(`${name}-${window}-${theme}`);
      };
      await sees("[data-testid=picker]");
      await looks("picker");
      await press("[data-testid=talk-law]");
      await says("[data-testid=voice-state]", "Law listens");
      await browser.js(`window.hear("add buy", false)`);
      await says("[data-testid=voice-interim]", "add buy");
      await looks("call");
      // There is no voice here: the words are shown, and the call goes on.
      server.record({ type: "turn", turn: 1, state: "queued", origin: "message", content: "hi", id: "x" }, LAW);
      server.record({ type: "assistant", content: "You have three tasks. Let's go!", turn: 1, step: 1, final: true }, LAW);
      await says("[data-testid=voice-speech]", "You have three tasks.");
      await looks("shown");
      await press("[data-testid=place-tasks]");
      await sees("[data-testid=call-indicator]");
      await sees("l3-timer");
      const boxes = await browser.js(`return ["[data-testid=call-indicator]", "l3-timer", "main"].map((css) => { const { top, bottom } = document.querySelector(css).getBoundingClientRect(); return [top, bottom]; })`);
      const [[top, bottom], [timer], [, main]] = boxes;
      assert.ok(main <= top + 1 && bottom <= timer + 1, `the line stands between the place and the dock: ${boxes}`);
      await looks("indicator");
      await press("[data-testid=call-mute]");
      await says("[data-testid=call-indicator]", "Muted");
      await press("[data-testid=call-end]");
      await is(`document.querySelector("[data-testid=call-indicator]").hidden`);
      assert.equal(await browser.js(`return window.ears.some(({ isOn }) => isOn)`), false);
    });
  }
}

test("in_a_low_window_the_card_of_a_call_leaves_the_conversation_its_room", option, async () => {
  for (const size of [[640, 425], [667, 375], [844, 390]]) {
    await opens({ size, voice: { servers: { hears: "speech.example.com", speaks: "speech.example.com" } } });
    await press("[data-testid=choose-law]");
    await sees("[data-testid=voice-adapter] select");
    server.record({ type: "turn", turn: 1, state: "queued", origin: "message", content: "hi", id: "x" }, LAW);
    server.record({ type: "assistant", content: "You have three tasks.", turn: 1, step: 1, final: true }, LAW);
    await says("l3-messages", "You have three tasks.");
    await picture(`low-${size.join("-")}`);
    const [field, place, rows, answer] = await browser.js(`return [".talking l3-composer form", "main", ".talking .scroller", ".talking .assistant"].map((css) => { const { top, bottom } = document.querySelector(css).getBoundingClientRect(); return { top, bottom }; })`);
    assert.ok(field.bottom <= place.bottom && place.bottom <= size[1], `${size}: the field ${field.bottom} is in its place ${place.bottom}`);
    assert.ok(rows.bottom - rows.top >= 40 && answer.top < rows.bottom, `${size}: the conversation has ${rows.bottom - rows.top}`);
    assert.ok(await browser.js(`const card = document.querySelector(".talk-call"); document.querySelector("[data-testid=voice-adapter] select").focus(); const { top, bottom } = document.activeElement.getBoundingClientRect(); const box = card.getBoundingClientRect(); return top >= box.top - 1 && bottom <= box.bottom + 1`), `${size}: all of the card is reached`);
    server.end();
  }
});

test("a_microphone_that_is_denied_is_explained_and_goes_on_by_itself", option, async () => {
  const { begun } = await opens({ denied: true });
  await press("[data-testid=talk-law]");
  await says("[data-testid=voice-problem]", "The microphone is not allowed here");
  assert.deepEqual([await axe(browser), begun], [[], []]);
  await picture("permission");
  await permit(browser, server.address, "granted");
  await says("[data-testid=voice-state]", "Law listens");
  assert.equal(begun.length, 1);
});

test("before_a_maker_hears_it_the_person_is_asked_once", option, async () => {
  const { begun } = await opens({ local: "unavailable" });
  await press("[data-testid=talk-law]");
  await says("dialog", "The maker of this browser turns your voice into words.");
  assert.deepEqual([await axe(browser), begun, await browser.js(`return window.ears.length`)], [[], [], 0]);
  await picture("consent");
  await press("dialog [data-testid=confirm]");
  await says("[data-testid=voice-state]", "Law listens");
  await press("[data-testid=voice-end]");
  await says("[data-testid=voice-state]", "Call ended");
  await press("[data-testid=voice-call]");
  await says("[data-testid=voice-state]", "Law listens");
  assert.equal(begun.length, 2, "it is asked once");
});

test("a_tier_without_voice_opens_no_microphone_and_a_call_elsewhere_may_be_taken_over", option, async () => {
  await opens({ role: "member", voice: { voice: false, seconds_left: 0 } });
  await says(".character-reason", "not part of your tier");
  await press("[data-testid=talk-law]");
  await sees("[data-testid=voice-upgrade]");
  assert.deepEqual([await axe(browser), await browser.js(`return window.ears.length`)], [[], 0]);
  await picture("upgrade");
  server.end();
  const { begun } = await opens({ voice: { call: { call: 2 } } });
  await press("[data-testid=choose-law]");
  await says("[data-testid=voice-state]", "You are in a call in another tab");
  await says("[data-testid=voice-call]", "Take over");
  assert.deepEqual(await axe(browser), []);
  await press("[data-testid=voice-call]");
  await says("dialog", "in another tab");
  await press("dialog [data-testid=confirm]");
  await says("[data-testid=voice-state]", "Law listens");
  assert.deepEqual(begun, [{ adapter: "browser", take_over: true }]);
});

test("without_a_microphone_law_cannot_be_called_and_the_card_says_so_until_one_is_connected", option, async () => {
  await opens();
  const connects = (kinds) => browser.js(`navigator.mediaDevices.enumerateDevices = async () => ${JSON.stringify(kinds.map((kind) => ({ kind })))}; navigator.mediaDevices.dispatchEvent(new Event("devicechange"));`);
  await connects(["videoinput", "audiooutput"]);
  await says(".character-reason", "No microphone was found here.");
  assert.equal(await browser.js(`return document.querySelector("[data-testid=talk-law]").getAttribute("aria-disabled")`), "true");
  assert.deepEqual(await axe(browser), []);
  await connects(["audioinput"]);
  await says(".character-reason", "Law asks for the microphone");
  await press("[data-testid=talk-law]");
  await says("[data-testid=voice-state]", "Law listens");
});

test("a_browser_without_ears_says_so_on_the_card", option, async () => {
  await opens();
  await browser.js(`delete window.SpeechRecognition; window.SpeechRecognition = undefined; window.webkitSpeechRecognition = undefined`);
  await press("[data-testid=place-tasks]");
  await press("[data-testid=place-assistant]");
  await says(".character-reason", "Voice not supported on this browser");
  assert.equal(await browser.js(`return document.querySelector("[data-testid=talk-law]").getAttribute("aria-disabled")`), "true");
  assert.deepEqual(await axe(browser), []);
});
