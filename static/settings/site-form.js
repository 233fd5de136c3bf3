// Settings of the server as a form: each with its default, with where it comes from if that wins,
// and with what waits for the next start.

import { h } from "../core/dom.js";
import { field, input } from "../ui/forms.js";
import { savingForm } from "./saving.js";
import { said } from "./words.js";

/** The changes to be sent for the values of a form: those that differ from what is set, `null` where a field is empty. Pure. */
export function changesOf(values, settings) {
  const changes = {};
  for (const { name, can_change: may } of settings) {
    if (!may || !(name in values)) continue;
    const value = values[name].trim();
    if (value !== setValue(settings, name)) changes[name] = value === "" ? null : value;
  }
  return changes;
}

/** The text in the field of a setting: the value from the next start on. */
export function setValue(settings, name) {
  const { value, waits, next, origin } = settings.find((each) => each.name === name) ?? {};
  if (waits) return next ?? "";
  return origin === "default" ? "" : (value ?? "");
}

/** The form for the settings `names`. `site` keeps the settings (`{ settings, told(listener), change(changes) }`). Gives `{ node, put(name, value) }`. */
export function siteForm(site, names, label, testid) {
  const controls = new Map(names.map((name) => [name, row(name)]));
  const save = async () => {
    const values = Object.fromEntries([...controls].map(([name, { control }]) => [name, control.value]));
    const changes = changesOf(values, site.settings);
    if (Object.keys(changes).length > 0) await site.change(changes);
  };
  const node = savingForm({ label, testid, holds: said.nextStart, body: [...controls.values()].map((each) => each.node), save, fields: Object.fromEntries(controls) });
  site.told((settings) => {
    for (const [name, each] of controls) each.show(settings.find((setting) => setting.name === name), setValue(settings, name));
  });
  const put = (name, value) => {
    const { control } = controls.get(name);
    if (control.readOnly) return control.value === value;
    control.value = value;
    control.dispatchEvent(new Event("input", { bubbles: true }));
    return true;
  };
  return { node, put };
}

function row(name) {
  // A newer server may have one that these words do not know.
  const [label, help, byDefault] = said.names[name] ?? [name];
  const origin = h("span", { class: "help" });
  const control = input({ name, placeholder: byDefault && said.default(byDefault), "data-testid": `setting-${name}`, spellcheck: "false" });
  const { node, wrong } = field(label, control, help);
  node.append(origin);
  const show = (setting, value) => {
    const wins = setting && said.wins[setting.origin];
    // Read only and not disabled: it can still be reached and read.
    control.readOnly = !setting?.can_change;
    control.value = value;
    origin.textContent = wins ? wins(name) : setting?.waits ? said.holdsNext(value || said.default(byDefault ?? "")) : "";
    origin.hidden = origin.textContent === "";
  };
  return { node, control, wrong, show };
}
