// The dialog that names the keys of the page; `shortcuts.js` has what they do.

import { h } from "../core/dom.js";
import { wordsOf } from "../core/words.js";
import { openDialog } from "../ui/dialog.js";

const { shortcuts: said } = await wordsOf("palette");

/** The keys that `?` shows, and the name of what they do. */
export const KEYS = [
  [["Ctrl", "K"], "palette"],
  [["?"], "help"],
  [["Ctrl", "Shift", "O"], "new"],
  [["Ctrl", "Shift", "F"], "search"],
  [["Ctrl", "F"], "find"],
  [["/"], "write"],
  [["Esc"], "stop"],
  [["Alt", "↑ ↓"], "turns"],
  [["["], "list"],
];

/** A key as the machine before the person calls it. Pure. */
export function keyName(key, platform) {
  return /Mac|iPhone|iPad/.test(platform) ? ({ Ctrl: "⌘", Alt: "⌥", Shift: "⇧" }[key] ?? key) : key;
}

/** The dialog with all keys. */
export function showKeys() {
  if (document.querySelector("dialog:modal")) return;
  const rows = KEYS.flatMap(([keys, name]) => [
    h("dt", {}, keys.flatMap((key, index) => [index > 0 ? " " : "", h("kbd", {}, keyName(key, navigator.platform ?? ""))])),
    h("dd", {}, said[name]),
  ]);
  openDialog(said.title, [h("h2", {}, said.title), h("dl", { class: "shortcuts" }, rows)], {
    "data-testid": "shortcuts",
  });
}
