// A part of the settings that each profile has its own of.

import { h } from "../core/dom.js";
import { field, select } from "../ui/forms.js";
import { errorState, waitingFor } from "../ui/states.js";
import { said } from "./words.js";

/**
 * The part: a choice of the profile, and what `make(policy)` gives for it. `shown(policy)` is told after it stands there. `choose(name)` is the choice
 * made from outside, also of one that was not known when the part was made; true if it is another one than before.
 */
export function profilePart({ api, gone, profiles, make, shown }) {
  const body = h("div", { class: "profile-body" });
  const names = profiles();
  let profile = names[0];

  async function load() {
    const wanted = profile;
    body.replaceChildren(waitingFor(load, 3));
    try {
      const policy = await api.policy(wanted);
      if (gone.aborted || wanted !== profile) return;
      body.replaceChildren(...make(policy));
      shown?.(policy);
    } catch (error) {
      if (!gone.aborted && wanted === profile) body.replaceChildren(errorState(error.message, load));
    }
  }

  const chosen = (name) => {
    profile = name;
    load();
  };
  const options = names.map((name) => [name, name]);
  const control = select(options, profile, chosen);
  const choice = names.length > 1 ? [field(said.profile, control, said.profileHelp).node] : [];
  const choose = (name) => {
    if (name === profile) return false;
    if (!names.includes(name)) control.append(new Option(name, name));
    control.value = name;
    chosen(name);
    return true;
  };
  load();
  return { nodes: [...choice, body], choose };
}
