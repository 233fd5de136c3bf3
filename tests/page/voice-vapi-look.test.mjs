// A call by Vapi in a real browser: Daily's own module loads under the policy of the page's
// document, and a stand-in at its address plays a room.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { axe } from "./support/axe.mjs";
import { serveTodos } from "./support/todo-server.mjs";
import { handsOf, lawWorld, MICROPHONE, opensPicker, permit } from "./support/voice.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const DAILY = "vendor/daily-js-0.87.0.esm.js";
const POLICY = readFileSync(new URL("../../src/http/access/mod.rs", import.meta.url), "utf8").match(/WITH_DAILY: &str = "([^"]*)"/)[1].replace(/\\\n\s*/g, "");
/** A room: `window.room.say(message)` is what comes of it, `window.room.done` what the page did. */
const STAND_IN = `
  const listeners = {};
  const done = [];
  const note = (name) => (...all) => (done.push([name, ...all]), Promise.resolve());
  window.room = { done, say: (message) => listeners["app-message"]({ data: typeof message === "string" ? message : JSON.stringify(message) }), tell: (name, event) => listeners[name](event) };
  export default { createCallObject: (options) => (done.push(["create", options]), {
    on: (name, listener) => (listeners[name] = listener),
    join: note("join"), leave: note("leave"), destroy: note("destroy"), updateParticipant: note("subscribe"), sendAppMessage: note("send"), setLocalAudio: note("audio"), participants: () => ({}),
  }) };`;

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

const { is, says, press } = handsOf(() => browser);

/** The page at the picker, in a browser that recognises nothing. */
async function opens(change) {
  const asked = [];
  server = await serveTodos({
    // The policy of the document, as the program gives it if Vapi is set up.
    change: ({ path, text }) => (path === "index.html" ? text.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${POLICY.replace(/; frame-ancestors.*/, "")}">`) : change?.({ path, text }) ?? text),
    ...lawWorld({
      voice: { servers: { hears: null, speaks: null, vapi: true } },
      call: { adapter: "vapi", room: { url: "https://vapi.daily.co/room", token: "eyJ" } },
      told: (what, body) => asked.push(body === undefined ? [what] : [what, body]),
    }),
  });
  Object.assign(server.assistant, { hears: true });
  await permit(browser, server.address, "granted");
  await opensPicker(browser, server);
  await browser.js(`
    ${MICROPHONE}
    window.webkitSpeechRecognition = window.SpeechRecognition = undefined;
    localStorage.clear();`);
  // The picker looks again at what this browser can do.
  await press("[data-testid=place-tasks]");
  await press("[data-testid=place-assistant]");
  return { asked };
}

const option = { skip, timeout: 240_000 };

test("a_call_by_vapi_is_joined_shown_muted_and_ended", option, async () => {
  const { asked } = await opens(({ path }) => (path === DAILY ? STAND_IN : undefined));
  await press("[data-testid=talk-law]");
  await says("dialog", "Your voice goes to Vapi");
  assert.deepEqual([await axe(browser), asked], [[], []], "nothing begins before the person has read where the sound goes");
  await press("dialog [data-testid=confirm]");
  await is(`window.room?.done.some(([name]) => name === "join")`);
  const lang = await browser.js(`return navigator.languages[0]`);
  assert.deepEqual(asked, [["begin", { adapter: "vapi", take_over: false, lang }]], "nothing counts before Vapi hears");
  assert.deepEqual(await browser.js(`return window.room.done.find(([name]) => name === "join")[1]`), { url: "https://vapi.daily.co/room", token: "eyJ", subscribeToTracksAutomatically: false });
  await browser.js(`window.room.say("listening")`);
  await says("[data-testid=voice-state]", "Law listens");
  assert.deepEqual(asked.at(-1), ["beat"]);
  await browser.js(`window.room.say({ type: "transcript", role: "user", transcriptType: "partial", transcript: "add buy" })`);
  await says("[data-testid=voice-interim]", "add buy");
  await browser.js(`window.room.say({ type: "transcript", role: "user", transcriptType: "final", transcript: "add buy milk" })`);
  await is(`document.querySelector("[data-testid=voice-interim]").hidden`);
  assert.equal(server.heard.some(({ type }) => type === "message"), false, "Vapi brings the words to the server");
  await browser.js(`window.room.say({ type: "speech-update", role: "assistant", status: "started" })`);
  await says("[data-testid=voice-state]", "Law speaks");
  assert.deepEqual(await axe(browser), []);
  await press("[data-testid=voice-mute]");
  await is(`JSON.stringify(window.room.done.at(-1)) === '["audio",false]'`);
  await press("[data-testid=place-tasks]");
  await says("[data-testid=call-indicator]", "Muted");
  await press("[data-testid=call-end]");
  await is(`window.room.done.some(([name]) => name === "leave")`);
  assert.deepEqual(asked.at(-1), ["end"]);
});

test("a_room_that_ends_ends_the_call", option, async () => {
  const { asked } = await opens(({ path }) => (path === DAILY ? STAND_IN : undefined));
  await press("[data-testid=talk-law]");
  await press("dialog [data-testid=confirm]");
  await is(`window.room?.done.some(([name]) => name === "join")`);
  await browser.js(`window.room.say("listening")`);
  await says("[data-testid=voice-state]", "Law listens");
  await browser.js(`window.room.tell("left-meeting", {})`);
  await says("[data-testid=voice-state]", "Call ended");
  assert.deepEqual(asked.at(-1), ["end"]);
});

test("a_line_that_breaks_is_taken_up_once_and_a_room_that_cannot_be_joined_can_be_tried_again", option, async () => {
  const { asked } = await opens(({ path }) => (path === DAILY ? STAND_IN : undefined));
  const rooms = () => browser.js(`return window.room.done.filter(([name]) => name === "join").length`);
  await press("[data-testid=talk-law]");
  await press("dialog [data-testid=confirm]");
  await is(`window.room?.done.some(([name]) => name === "join")`);
  await browser.js(`window.room.say("listening")`);
  await says("[data-testid=voice-state]", "Law listens");
  await browser.js(`window.room.tell("error", { error: { type: "connection-error", msg: "it broke" } })`);
  await is(`window.room.done.filter(([name]) => name === "join").length === 2`);
  assert.deepEqual(asked.filter(([what]) => what === "begin").at(-1), ["begin", { adapter: "vapi", take_over: true, lang: await browser.js(`return navigator.languages[0]`) }]);
  // Before Vapi hears, a room that breaks was never joined.
  await browser.js(`window.room.tell("error", { error: { type: "no-room", msg: "it is gone" } })`);
  await says(".toast, [data-testid=toast]", "Retry");
  assert.deepEqual(await axe(browser), []);
  await browser.js(`[...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Retry").click()`);
  await is(`window.room.done.filter(([name]) => name === "join").length === 3`);
  await browser.js(`window.room.say("listening")`);
  await says("[data-testid=voice-state]", "Law listens");
  assert.equal(await rooms(), 3);
});

test("dailys_own_module_loads_under_the_policy_and_makes_a_call_object", option, async () => {
  await opens();
  const made = await browser.js(`
    window.refused = [];
    document.addEventListener("securitypolicyviolation", ({ blockedURI }) => window.refused.push(blockedURI));
    const folder = document.querySelector("script[src]").src.replace(/shell\\/.*/, "");
    return import(folder + arguments[0]).then(({ default: Daily }) => {
      const call = Daily.createCallObject({ audioSource: true, videoSource: false, dailyConfig: { avoidEval: true } });
      const names = ["join", "on", "updateParticipant", "sendAppMessage", "setLocalAudio", "leave", "destroy", "participants"].filter((name) => typeof call[name] === "function");
      return call.destroy().then(() => [Daily.version(), names.length, window.refused.filter((uri) => !uri.includes("sentry"))]);
    });`, DAILY);
  assert.deepEqual(made, ["0.87.0", 8, []]);
});
