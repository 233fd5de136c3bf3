// A small menu at the button that opened it. Arrows move in it, Escape closes it.

import { h } from "../core/dom.js";

/** Opens a menu of `entries` (`{ text, action, kind }`) at `anchor`. */
export function openMenu(anchor, entries) {
  document.querySelector(".menu")?.remove();
  const menu = h("div", { class: "menu", role: "menu", popover: "auto" });
  for (const { text, action, kind } of entries) {
    const pick = () => {
      menu.hidePopover();
      action();
    };
    menu.append(h("button", { type: "button", role: "menuitem", class: kind ?? "", tabindex: "-1", onclick: pick }, text));
  }
  menu.addEventListener("keydown", (event) => {
    const all = [...menu.children];
    const at = all.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Tab") menu.hidePopover();
    if (to === undefined) return;
    event.preventDefault();
    all[(to + all.length) % all.length].focus();
  });
  // It belongs to the place where it was opened.
  const close = () => menu.hidePopover();
  addEventListener("hashchange", close, { once: true });
  menu.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    removeEventListener("hashchange", close);
    anchor.setAttribute("aria-expanded", "false");
    if (menu.contains(document.activeElement) || document.activeElement === document.body) anchor.focus();
    menu.remove();
  });
  // Within the landmark; it is shown above everything wherever it stands.
  (document.querySelector("main") ?? document.body).append(menu);
  menu.showPopover();
  place(menu, anchor);
  anchor.setAttribute("aria-expanded", "true");
  menu.firstElementChild?.focus();
}

/** Under the anchor, or over it if there is more room, with both ends of the line together; never out of the window. */
function place(menu, anchor) {
  const at = anchor.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const below = at.bottom + height <= innerHeight;
  menu.style.top = `${Math.max(0, below ? at.bottom : at.top - height)}px`;
  const end = getComputedStyle(anchor).direction === "rtl" ? at.left : at.right - width;
  menu.style.left = `${Math.min(Math.max(0, end), innerWidth - width)}px`;
}
