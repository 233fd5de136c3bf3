// The tiers: how much each may use.

import { h } from "../core/dom.js";
import { locale } from "../core/words.js";
import { field, input } from "../ui/forms.js";
import { wrongAt } from "../ui/refused.js";
import { errorState, waitingFor } from "../ui/states.js";
import { people } from "./people-words.js";
import { savingForm } from "./saving.js";

/** The largest limit that the server keeps. */
const MOST = 2 ** 31 - 1;

/** The limit `name` that stands in a field, `null` for none; throws for what is none. Pure. */
export function limitOf(name, text) {
  if (text.trim() === "") return null;
  const number = /^\s*\d+\s*$/.test(text) ? Number(text) : Infinity;
  if (number > MOST) throw wrongAt(name, people.wholeNumber(MOST.toLocaleString(locale)));
  return number;
}

/** The part of it. */
export function tierSection({ api, gone }) {
  const body = h("div", { "data-testid": "tiers" }, waitingFor(load, 2));

  async function load() {
    try {
      const { tiers } = await api.tiers();
      if (!gone.aborted) body.replaceChildren(...tiers.flatMap((tier) => tierForm(api, tier)));
    } catch (error) {
      if (!gone.aborted) body.replaceChildren(errorState(error.message, load));
    }
  }

  load();
  return { nodes: [h("p", { class: "none" }, people.tiersHelp), body] };
}

function tierForm(api, { tier, messages_per_day: messages, voice_minutes_per_month: voice }) {
  const limit = (value, testid) => input({ value: value ?? "", inputmode: "numeric", dir: "ltr", "data-testid": testid });
  const fields = {
    messages_per_day: field(people.messages, limit(messages, `messages-${tier}`)),
    voice_minutes_per_month: field(people.voice, limit(voice, `voice-${tier}`)),
  };
  const all = Object.entries(fields);
  const body = h("div", { class: "side-by-side" }, all.map(([, { node }]) => node));
  const save = async () => {
    await api.setTier(tier, Object.fromEntries(all.map(([name, { control }]) => [name, limitOf(name, control.value)])));
  };
  const name = people.tierHead[tier] ?? tier;
  return [h("h3", {}, name), savingForm({ label: name, testid: `tier-${tier}`, holds: people.tierHolds, body, save, fields })];
}
