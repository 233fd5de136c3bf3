// Calls with Law in a real browser: ears that are put in, and the presses and looks that its tests
// and pictures share.

/** A microphone, which browsers without a screen have not, and a word of it to who looks for one. */
export const MICROPHONE = `
  if (navigator.mediaDevices) {
    navigator.mediaDevices.enumerateDevices = async () => [{ kind: "audioinput" }];
    navigator.mediaDevices.dispatchEvent(new Event("devicechange"));
  }`;

/** Ears that hear what `hear(text, isFinal)` says. `window.local` says where sound goes. The browser has no voice. */
export const EARS = `
  ${MICROPHONE}
  window.ears = [];
  window.SpeechRecognition = class {
    static async available() { return window.local ?? "available"; }
    constructor() { window.ears.push(this); }
    start() { this.isOn = true; setTimeout(() => this.onstart()); }
    abort() { this.isOn = false; setTimeout(() => this.onend()); }
  };
  window.hear = (transcript, isFinal) => window.ears.at(-1).onresult({ resultIndex: 0, results: [Object.assign([{ transcript, confidence: 0.9 }], { isFinal })] });
  Object.defineProperty(window, "speechSynthesis", { value: { getVoices: () => [], cancel() {} } });`;

/** Has the browser allow the microphone to the pages of an address, or deny it: a `setting` of its own. */
export const permit = (browser, origin, setting) => browser.cdp("Browser.setPermission", { permission: { name: "microphone" }, setting, origin });

/** Puts a script into every page before its own; gives what takes it out again. */
export async function putsFirst(browser, source) {
  const { identifier } = await browser.cdp("Page.addScriptToEvaluateOnNewDocument", { source });
  return () => browser.cdp("Page.removeScriptToEvaluateOnNewDocument", { identifier });
}

/** What a person does and sees in a browser that is made when it is needed. */
export function handsOf(browser) {
  const is = (script, ...all) => browser().waitFor(`return ${script}`, ...all);
  const sees = (css) => is(`document.querySelector(arguments[0])?.checkVisibility() === true`, css);
  const says = (css, text) => is(`document.querySelector(arguments[0])?.textContent.includes(arguments[1]) === true`, css, text);
  const press = async (css) => {
    await sees(css);
    await browser().js(`document.querySelector(arguments[0]).click()`, css);
  };
  return { is, sees, says, press };
}

const LAW = 22;

/** The world of a page with Law, and the answers about a call: `{ api, world }`. `told(what, body)` hears of each order. */
export function lawWorld({ role = "owner", voice, call, told = () => undefined } = {}) {
  const of = { call: 3, conversation: LAW, adapter: "browser", state: "active", seconds_left: 3600, warned: false, beat_seconds: 10, ...call };
  return {
    api: {
      "/api/conversations/22/frames": { frames: [], before: null, from: null },
      "/api/voice": { voice: true, seconds_left: 3600, call: null, ...voice },
      "POST /api/voice/calls": ({ body }) => (told("begin", body), of),
      "POST /api/voice/calls/3/beat": () => (told("beat"), of),
      "DELETE /api/voice/calls/3": () => (told("end"), { call: 3, reason: "hung_up" }),
    },
    world: { hello: { conversation: role === "member" ? 21 : 1, conversations: { ...(role === "owner" && { builder: 1 }), lea: 21, law: LAW }, last_seq: 0 } },
  };
}

/** Opens the page of a server of that world at the picker. */
export async function opensPicker(browser, server, { voice = true } = {}) {
  Object.assign(server.assistant.conversations, { law: LAW });
  server.assistant.allowances.voice = voice;
  await browser.go("about:blank");
  await browser.go(`${server.address}#assistant`);
  await browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=connected]") !== null`);
}
