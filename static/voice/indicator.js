// The call while a person looks at something else: a line above the dock, which it never covers.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { HANG_UP, MICROPHONE } from "../ui/icons-more.js";
import { sentenceOf, talked } from "./clock.js";
import { said } from "./words.js";

/** On a phone the sign is seen alone, and its name is for screen readers. */
const name = (text) => h("span", { class: "call-name" }, text);

/** The line: `{ node, show(view) }`. */
export function createIndicator({ back, end, mute }) {
  const words = h("span", { class: "call-words", role: "status" });
  const time = h("span", { class: "call-time", "aria-hidden": "true" });
  let isMuted = false;
  const hush = button(name(said.mute), () => mute(!isMuted), { kind: "quiet", icon: MICROPHONE, "aria-pressed": "false", "data-testid": "call-mute" });
  const stop = button(name(said.end), end, { kind: "quiet", icon: HANG_UP, "data-testid": "call-end" });
  const node = h("section", { class: "call-indicator", "aria-label": said.label, "data-testid": "call-indicator", hidden: true }, time, words, hush, stop, button(said.back, back, { kind: "quiet", "data-testid": "call-back" }));

  function show(view, isSeen) {
    const isOn = view.state === "connecting" || view.state === "active";
    node.hidden = !isOn || isSeen;
    if (node.hidden) return;
    ({ isMuted } = view);
    hush.setAttribute("aria-pressed", String(isMuted));
    hush.lastChild.textContent = isMuted ? said.unmute : said.mute;
    const text = sentenceOf(view, said);
    if (words.textContent !== text) words.textContent = text;
    time.textContent = talked(view);
  }

  return { node, show };
}
