// Lea and Law side by side: who is who, and the way to each.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { CHARACTERS } from "../core/characters.js";
import { button } from "../ui/button.js";
import { errorState } from "../ui/states.js";
import { said } from "./words.js";

/**
 * The picker: `{ node, show(allowances, hears) }`; `hears`: the server can hear calls. `missing` is a name under which there is nobody; `call()`
 * calls Law. It looks for microphones until `signal` aborts.
 */
export function picker(missing, call, signal) {
  const cards = CHARACTERS.map((name) => card(name));
  const devices = globalThis.navigator?.mediaDevices;
  let hasMicrophone = devices !== undefined;
  let known = [];
  const reason = h("p", { class: "character-reason", id: "no-voice" });
  const talk = button(said.call, call, { kind: "primary", "aria-describedby": "no-voice", "data-testid": "talk-law" });
  cards[1].append(talk, reason, wayTo("law", "quiet"));
  cards[0].append(wayTo("lea", "button primary"));
  const node = h(
    "div",
    { class: "sheet", "data-testid": "picker" },
    missing === undefined ? "" : errorState(said.nobody(missing)),
    h("header", { class: "picker-head" }, h("h2", {}, said.who), h("p", {}, said.whoHelp)),
    h("div", { class: "characters" }, cards),
  );
  const show = (...now) => {
    known = now;
    const [allowances, hears] = now;
    const recognises = Boolean(globalThis.SpeechRecognition ?? globalThis.webkitSpeechRecognition);
    const canHear = recognises || (Boolean(devices?.getUserMedia) && hears === true);
    // A tier without voice is told first: the button says more of it, and needs no microphone.
    const isFree = allowances?.voice === false;
    // It is found with Tab, and says why it does not work.
    if (canHear && (hasMicrophone || isFree)) talk.removeAttribute("aria-disabled");
    else talk.setAttribute("aria-disabled", "true");
    reason.textContent = !canHear ? said.noVoice : isFree ? said.noVoiceTier : hasMicrophone ? said.voiceHelp : said.noMicrophone;
  };
  async function look() {
    hasMicrophone = await listsMicrophone(devices);
    show(...known);
  }
  devices?.addEventListener?.("devicechange", look, { signal });
  look();
  show();
  return { node, show };
}

/** True if this browser knows of a microphone. One that does not say is thought to have one; without a secure address there is none. */
async function listsMicrophone(devices) {
  if (!devices) return false;
  try {
    return (await devices.enumerateDevices()).some(({ kind }) => kind === "audioinput");
  } catch {
    return true;
  }
}

function card(name) {
  const samples = said.samples[name].map((text) => h("li", {}, `“${text}”`));
  const id = `character-${name}`;
  const look = h("span", { class: "character-look", "aria-hidden": "true" }, said.looks[name]);
  return h("article", { class: "character", "data-character": name, "aria-labelledby": id }, look, h("h3", { id }, said.names[name]), h("p", {}, said.natures[name]), h("ul", { class: "character-samples" }, samples));
}

const wayTo = (name, look) => h("a", { class: look, href: addressOf("assistant", name), "data-testid": `choose-${name}` }, said.write[name]);
