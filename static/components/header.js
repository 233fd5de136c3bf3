// The bar at the top: whose page this is, which model answers, how the line is, and the switch of the side panel.

import { h, icon, sameFields } from "../dom.js";

const CONNECTION_WORDS = {
  connecting: "Connecting",
  connected: "Connected",
  reconnecting: "Reconnecting",
  offline: "Offline",
};
const PANEL_ICON = "M3 4h14v12H3zM12.5 4v12";

/** `<l3-header>`: `data = { hello, connection, waits }`; sends `panel-toggle`, `retry` and `show-approval`. */
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
    this.waits = h(
      "button",
      {
        type: "button",
        class: "waits",
        "data-testid": "waits",
        hidden: true,
        onclick: () => this.say("show-approval"),
      },
      h("span", { class: "waits-long" }, "Waiting for your approval"),
      h("span", { class: "waits-short", "aria-hidden": "true" }, "Approve?"),
    );
    this.retry = h(
      "button",
      { type: "button", class: "quiet", hidden: true, onclick: () => this.say("retry") },
      "Try now",
    );
    this.toggle = h(
      "button",
      {
        type: "button",
        class: "icon-button",
        "aria-controls": "panel",
        "aria-expanded": "false",
        onclick: () => this.say("panel-toggle"),
      },
      icon(PANEL_ICON, "Tasks, capabilities, secrets and usage"),
    );
    const mark = h("span", { class: "mark", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
    this.append(
      h("h1", {}, mark, "level3"),
      this.model,
      h("span", { class: "space" }),
      this.waits,
      this.retry,
      this.connection,
      this.toggle,
    );
  }

  set data({ hello, connection, waits }) {
    this.waits.hidden = waits === 0;
    if (hello && !sameFields(this.shownModel, hello.model)) {
      this.shownModel = hello.model;
      const { kind, provider, name } = hello.model;
      this.model.dataset.model = kind;
      this.model.replaceChildren(
        ...(kind === "tour"
          ? ["built-in tour"]
          : [h("span", { class: "provider" }, provider), h("span", { class: "name" }, name)]),
      );
      this.model.title = kind === "local" ? "Found on this machine" : "";
    }
    if (sameFields(this.shownConnection, connection)) return;
    this.shownConnection = connection;
    const { status } = connection;
    this.connection.dataset.state = status === "connecting" ? "reconnecting" : status;
    this.words.textContent = CONNECTION_WORDS[status];
    this.retry.hidden = status !== "offline";
  }

  say(type) {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true }));
  }
}

customElements.define("l3-header", Header);
