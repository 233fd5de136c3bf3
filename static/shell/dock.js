// The dock under the place: what is live and not in sight. The focus timer, a turn that runs
// elsewhere, an approval that waits. The line when it is down is a banner.

import { h, keyed } from "../core/dom.js";
import { later } from "../core/later.js";
import { words } from "../core/words.js";
import { button } from "../ui/button.js";

/** `<l3-dock>`: `data` as `dockRows` has it; sends `go-conversation`, `show-approval` and `stop-conversation` (detail: the conversation). */
export class Dock extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", words.dock.label);
  }

  set data(rows) {
    keyed(this, rows, ({ kind, conversation, text }) => {
      if (kind === "timer") return later("l3-timer", () => import("../ui/timer.js"));
      const say = (type) => this.dispatchEvent(new CustomEvent(type, { bubbles: true, detail: conversation }));
      const entry = h("div", { class: "dock-entry", "data-state": kind, "data-testid": "dock-entry" });
      entry.append(h("span", { class: "dot" }), h("span", { class: "words", dir: "auto" }, text));
      if (kind === "runs") entry.append(button(words.dock.stop, () => say("stop-conversation"), { kind: "quiet" }));
      entry.append(button(words.dock.open, () => say(kind === "waits" ? "show-approval" : "go-conversation"), { kind: "quiet" }));
      return entry;
    });
  }
}

customElements.define("l3-dock", Dock);
