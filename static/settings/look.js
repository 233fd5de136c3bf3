// Settings for this browser alone: the look, the language, notifications.

import { h } from "../core/dom.js";
import { set, setting } from "../core/settings.js";
import { LANGUAGES, language } from "../core/words.js";
import { field, segmented, select, toggle } from "../ui/forms.js";
import { toast } from "../ui/toast.js";
import { said } from "./words.js";

/** The part of it. */
export function lookSection() {
  const { dataset } = document.documentElement;
  const keep = (name, none) => (value) => {
    set(name, value === none ? undefined : value);
    if (value === none) delete dataset[name];
    else dataset[name] = value;
  };
  const themes = [["system", said.system], ["light", said.light], ["dark", said.dark]];
  const sizes = [["normal", said.normal], ["large", said.large], ["larger", said.larger]];
  const languages = Object.entries(LANGUAGES).map(([id, { name }]) => [id, name]);
  const nodes = [
    h("p", { class: "none" }, said.lookHelp),
    row(said.theme, segmented(said.theme, themes, setting("theme", "system"), keep("theme", "system"))),
    row(said.text, segmented(said.text, sizes, setting("text", "normal"), keep("text", "normal"))),
    field(said.language, select(languages, language, (value) => set("language", value)), said.languageHelp).node,
    notifications(),
  ];
  return { nodes };
}

const row = (label, control) => h("div", { class: "setting" }, h("span", {}, label), control);

/** The system asks the person itself; only then is it on. */
function notifications() {
  const changed = async (on, box) => {
    const allowed = !on || (await globalThis.Notification?.requestPermission()) === "granted";
    if (!allowed) {
      box.checked = false;
      toast(said.notifyRefused);
    }
    set("notify", on && allowed ? true : undefined);
  };
  // A browser may allow them no longer.
  const isOn = setting("notify", false) && globalThis.Notification?.permission === "granted";
  return toggle(said.notify, isOn, changed, said.notifyHelp);
}
