// The rail of places; on a phone the bar at the bottom, with four of them and More.

import { h, keyed } from "../core/dom.js";
import { words } from "../core/words.js";
import { iconOf } from "../ui/icons.js";
import { badge } from "../ui/states.js";

/** How many places the bar of a phone has room for. */
const ON_THE_BAR = 4;

/** `<l3-rail>`: `places` first, then `data = { current, badges }`, the badges by place; sends `go` (detail: the place's id). */
export class Rail extends HTMLElement {
  connectedCallback() {
    const mark = h("span", { class: "mark", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
    this.nav = h("nav", { "aria-label": words.places.all });
    this.more = h(
      "button",
      { type: "button", class: "rail-place rail-more", "aria-haspopup": "menu", "aria-expanded": "false" },
      iconOf("more"),
      h("span", {}, words.places.more),
    );
    this.more.addEventListener("click", () => this.openMore());
    this.nav.append(this.more);
    this.replaceChildren(mark, this.nav);
  }

  set places(places) {
    this.all = places.filter(({ under }) => !under).toSorted((a, b) => a.order - b.order);
  }

  set data({ current, badges }) {
    const rows = this.all.map(({ id, title, icon }, index) => ({
      key: id,
      id,
      title,
      icon,
      beyond: index >= ON_THE_BAR,
      current: id === current,
      count: badges[id] ?? 0,
    }));
    keyed(this.nav, rows, () => document.createElement("l3-rail-place"));
    // In a low window not all of them are in sight.
    if (this.current !== current) this.nav.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
    this.current = current;
    this.more.toggleAttribute("aria-current", rows.some((row) => row.beyond && row.current));
    this.more.hidden = rows.every((row) => !row.beyond);
  }

  async openMore() {
    const { openMenu } = await import("../ui/menu.js");
    const beyond = this.all.slice(ON_THE_BAR);
    const go = (id) => this.dispatchEvent(new CustomEvent("go", { bubbles: true, detail: id }));
    openMenu(this.more, beyond.map(({ id, title }) => ({ text: title, action: () => go(id) })));
  }
}

/** One place in the rail; `data` is a row of it. */
export class RailPlace extends HTMLElement {
  set data({ id, title, icon, beyond, current, count }) {
    this.link ??= h("a", { class: "rail-place", href: `#${id}`, "data-testid": `place-${id}` });
    if (!this.link.isConnected) this.append(this.link);
    if (current) this.link.setAttribute("aria-current", "page");
    else this.link.removeAttribute("aria-current");
    this.link.title = title;
    this.link.toggleAttribute("data-beyond", beyond);
    this.link.replaceChildren(iconOf(icon), h("span", {}, words.places.inRail[id] ?? title), badge(count, words.places.waiting(count)) ?? "");
  }
}

customElements.define("l3-rail", Rail);
customElements.define("l3-rail-place", RailPlace);
