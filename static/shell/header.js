// The line above a place: what is shown, which model answers, and how the line to the server is.

import { h, sameFields } from "../core/dom.js";
import { words } from "../core/words.js";
import { button } from "../ui/button.js";

/** `<l3-header>`: `data = { hello, connection, waits }`, `title_` what is shown, `leading` a button; sends `retry` and `show-approval`. */
export class Header extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "banner");
    this.model = h("span", { class: "model", "data-testid": "model" });
    this.words = h("span", { class: "connection-words" });
    this.connection = h(
      "span",
      { class: "connection", "data-testid": "connection", role: "status" },
      h("span", { class: "dot" }),
      this.words,
    );
    const waits = [h("span", { class: "waits-long" }, words.line.waits), h("span", { class: "waits-short", "aria-hidden": "true" }, words.line.waitsShort)];
    this.waits = button(waits, () => this.say("show-approval"), { class: "waits", "data-testid": "waits", hidden: true });
    this.retry = button(words.line.retry, () => this.say("retry"), { kind: "quiet", hidden: true });
    this.heading = h("h1", { dir: "auto" });
    this.lead = h("span", { class: "lead" });
    const parts = [this.lead, this.heading, this.model, h("span", { class: "space" }), this.waits, this.retry, this.connection];
    this.replaceChildren(...parts);
  }

  /** The place's own part at the beginning of the line, as a rule the button of its list. */
  set leading(node) {
    // A button that is put in anew loses the focus.
    if (this.lead.firstChild !== node) this.lead.replaceChildren(...(node ? [node] : []));
  }

  /** The title of what is shown: the name of the place, or the title of the conversation. */
  set title_(title) {
    if (this.heading.textContent !== title) this.heading.textContent = title;
  }

  set data({ hello, connection, waits }) {
    this.waits.hidden = waits === 0;
    if (hello && !sameFields(this.shownModel, hello.model)) {
      this.shownModel = hello.model;
      const { kind, provider, name } = hello.model;
      this.model.dataset.model = kind;
      this.model.replaceChildren(
        ...(kind === "tour"
          ? [words.line.tour]
          : [h("span", { class: "provider" }, provider), h("span", { class: "name" }, name)]),
      );
      this.model.title = kind === "local" ? words.line.found : "";
    }
    if (sameFields(this.shownConnection, connection)) return;
    this.shownConnection = connection;
    const { status } = connection;
    this.connection.dataset.state = status === "connecting" ? "reconnecting" : status;
    this.words.textContent = words.line[status];
    this.retry.hidden = status !== "offline";
  }

  say(type) {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true }));
  }
}

customElements.define("l3-header", Header);
