// The call in Law's place: who speaks, what is heard and said, where the sound goes, and the
// buttons.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { sentenceOf, talked } from "./clock.js";
import { TALKED } from "./language.js";
import { select } from "../ui/forms.js";
import { HANG_UP, MICROPHONE } from "../ui/icons-more.js";
import { said, whereWords } from "./words.js";

/** The level of a person who speaks up; a louder one moves nothing more. */
const LOUD = 6;

/** The panel: `{ node, show(view) }`. `start()`, `end()` and `mute(is)` are what its buttons do; `chosen(adapter)` is told who is to hear, `talks(language)` in which language. */
export function createCallPanel({ start, end, mute, chosen, talks }) {
  const state = h("p", { class: "voice-state", role: "status", "data-testid": "voice-state" });
  const time = h("span", { class: "voice-time", "aria-hidden": "true" });
  const interim = h("p", { class: "voice-interim", dir: "auto", "data-testid": "voice-interim" });
  const speech = h("p", { class: "voice-speech", dir: "auto", "data-testid": "voice-speech" });
  const unheard = h("p", { class: "voice-note", dir: "auto", "data-testid": "voice-unheard" });
  const where = h("p", { class: "voice-note", "data-testid": "voice-where" });
  const problem = h("div", { class: "voice-problem", role: "alert", "data-testid": "voice-problem" });
  const call = button(said.call, start, { kind: "primary", icon: MICROPHONE, "data-testid": "voice-call" });
  let isMuted = false;
  const hush = button(said.mute, () => mute(!isMuted), { icon: MICROPHONE, "aria-pressed": "false", "data-testid": "voice-mute" });
  const stop = button(said.end, end, { kind: "danger", icon: HANG_UP, "data-testid": "voice-end" });
  const level = h("span", { class: "voice-level", "aria-hidden": "true" }, h("i", {}), h("i", {}), h("i", {}), h("i", {}), h("i", {}));
  const choice = h("div", { class: "voice-choice", hidden: true, "data-testid": "voice-adapter" });
  const tongue = h("div", { class: "voice-choice", hidden: true, "data-testid": "voice-language" });
  const node = h(
    "section",
    { class: "voice-panel", "aria-label": said.label, "data-testid": "voice-panel" },
    h("div", { class: "voice-line" }, level, state, time, h("span", { class: "voice-buttons" }, call, hush, stop)),
    speech,
    interim,
    unheard,
    problem,
    where,
    choice,
    tongue,
  );
  let told;
  const offered = new Map();

  /** A choice is there if there are several; it is made anew only if it is another one, since a person may be at it. */
  function choose(place, words, among, value, changed) {
    place.hidden = among.length < 2;
    const now = place.hidden ? "" : [value, ...among].join(" ");
    if (now === offered.get(place)) return;
    offered.set(place, now);
    const all = [["", words.auto], ...among.map((each) => [each, words[each]])];
    place.replaceChildren(...(place.hidden ? [] : [h("label", {}, h("span", {}, words.label), select(all, value ?? "", changed))]));
  }

  function show(view) {
    const isOn = view.state === "connecting" || view.state === "active";
    node.dataset.state = view.state;
    node.dataset.level = view.isMuted || !isOn ? "none" : view.interim || view.isHeard ? "person" : view.speaking ? "law" : "quiet";
    put(state, sentenceOf(view, said));
    put(time, isOn ? talked(view) : view.elsewhere ? talked({ startedAt: Date.parse(view.elsewhere.started_at) || undefined }) : "");
    call.lastChild.textContent = view.elsewhere ? said.takeOver : said.call;
    put(interim, view.interim);
    // Without a voice the words are what there is of Law; with one the chat has them.
    put(speech, view.speaking && !view.aloud ? view.speaking : "");
    put(unheard, view.unheard.length > 0 ? said.unheard(view.unheard.join(" ")) : isOn && !view.aloud ? said.shownOnly : "");
    put(where, whereWords(view));
    choose(choice, said.hears, isOn ? [] : (view.adapters ?? []), view.adapter, chosen);
    choose(tongue, said.talks, isOn ? [] : TALKED, view.talks, talks);
    level.style.setProperty("--level", view.level === undefined ? "" : String(Math.min(1, view.level * LOUD)));
    level.toggleAttribute("data-measured", isOn && view.level !== undefined);
    ({ isMuted } = view);
    hush.setAttribute("aria-pressed", String(isMuted));
    hush.lastChild.textContent = isMuted ? said.unmute : said.mute;
    const held = node.contains(document.activeElement) ? document.activeElement : undefined;
    call.hidden = isOn;
    for (const each of [hush, stop]) each.hidden = !isOn;
    // A button that goes gives the focus to the one in its place.
    if (held?.hidden) (isOn ? stop : call).focus();
    const problemNow = `${view.error} ${view.problem}`;
    if (told !== problemNow) {
      told = problemNow;
      problem.replaceChildren(...problemOf(view));
    }
  }

  return { node, show };
}

/** Sets a text, and hides what has none. */
function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
  node.hidden = text === "";
}

function problemOf({ error, problem }) {
  const titled = (title, text) => [h("strong", {}, title), h("p", {}, text)];
  switch (error) {
    case "denied":
      return titled(said.denied, said.deniedHelp);
    case "unsupported":
      return titled(said.unsupported, said.unsupportedHelp);
    case "no-microphone":
      return [h("p", {}, said.noMicrophone)];
    case "network":
      return [h("p", {}, said.network)];
    case "server":
      return titled(said.server, problem);
    case "connection":
      return [h("p", {}, said.connection)];
    default:
      return [];
  }
}
