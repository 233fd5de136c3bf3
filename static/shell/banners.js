// News that a person should have before anything else: that this is the tour, that no model
// answers, that capabilities are not loaded, that the server cannot be reached.

import { h, keyed } from "../core/dom.js";
import { set, setting } from "../core/settings.js";
import { words } from "../core/words.js";

/** The words of a banner: the first sentence stands out, the second is left out on a phone, names of variables are code, and the way to the model is a link. */
function texts(kind) {
  const { first, long, rest } = words.banners[kind];
  const named = rest.split("`").map((part, index) => (index % 2 === 0 ? part : part.includes("›") ? h("a", { href: "#settings/model" }, part) : h("code", {}, part)));
  return [h("strong", {}, first), long ? h("span", { class: "long" }, long) : "", named].flat();
}

/** `<l3-banners>`: `data = { hello, connection, model }`. */
export class Banners extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", words.line.notices);
    /** kind → true if a person has read that banner. */
    this.read = setting("folded", {});
  }

  set data({ hello, connection, model }) {
    const kinds = [];
    if (connection.status === "offline") kinds.push("offline");
    if (hello?.safe_mode) kinds.push("safe");
    if (hello?.model.kind === "tour") kinds.push("tour");
    else if (model.fails) kinds.push("model");
    // A trouble that is over is news when it comes again.
    if (connection.status === "connected") this.keep("offline", false);
    if (hello && !hello.safe_mode) this.keep("safe", false);
    if (model.seq > 0 && !model.fails) this.keep("model", false);
    const rows = kinds.map((kind) => ({ key: kind, kind }));
    keyed(this, rows, ({ kind }) => {
      const node = banner(kind, this.read[kind]);
      // It is read once it is in sight: from the next load on it is one line.
      if (!document.hidden) this.keep(kind, true);
      return node;
    });
  }

  keep(kind, isRead) {
    if ((this.read[kind] ?? false) === isRead) return;
    this.read = { ...this.read, [kind]: isRead };
    set("folded", this.read);
  }
}

/** One banner. It folds to one line after the first reading. */
function banner(kind, isRead) {
  const node = h("div", { class: "banner", "data-testid": "banner", "data-banner": kind, role: kind === "tour" ? "note" : "alert" });
  node.append(h("p", {}, texts(kind)));
  const fold = h("button", { type: "button", class: "quiet" });
  const show = (folded) => {
    node.dataset.folded = String(folded);
    fold.setAttribute("aria-expanded", String(!folded));
    fold.textContent = folded ? words.line.more : words.line.less;
  };
  fold.addEventListener("click", () => show(node.dataset.folded !== "true"));
  node.append(fold);
  show(isRead === true);
  return node;
}

customElements.define("l3-banners", Banners);
