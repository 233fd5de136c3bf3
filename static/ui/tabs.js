// Tabs: one of a few panels is shown. Arrows move among them.

import { h } from "../core/dom.js";
import { styles } from "../core/styles.js";
import { keyAlong } from "./along.js";

await styles(import.meta.url, "tabs.css");

let made = 0;

/** Tabs for `panels`, each `[title, node]`: an element. `shown(node)` is told each time which one is shown. */
export function tabs(label, panels, shown = () => {}) {
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": label });
  const choose = (chosen, focus) => {
    panels.forEach(([, panel], index) => {
      const tab = list.children[index];
      const is = index === chosen;
      tab.setAttribute("aria-selected", String(is));
      tab.tabIndex = is ? 0 : -1;
      panel.hidden = !is;
      if (is && focus) tab.focus();
    });
    shown(panels[chosen][1]);
  };
  panels.forEach(([title, panel], index) => {
    made += 1;
    panel.id ||= `tab-panel-${made}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-label", title);
    list.append(h("button", { type: "button", role: "tab", "aria-controls": panel.id, onclick: () => choose(index) }, title));
  });
  list.addEventListener("keydown", (event) => {
    const at = [...list.children].indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[keyAlong(event)];
    if (step && at >= 0) choose((at + step + panels.length) % panels.length, true);
  });
  choose(0);
  return h("div", {}, list, panels.map(([, panel]) => panel));
}
