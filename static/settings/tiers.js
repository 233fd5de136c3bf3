// The tiers: how much each may use.

import { h } from "../core/dom.js";
import { field, input } from "../ui/forms.js";
import { errorState, waitingFor } from "../ui/states.js";
import { people } from "./people-words.js";
import { savingForm } from "./saving.js";

/** The limit that stands in a field, `null` for none; throws for what is no number. Pure. */
export function limitOf(text) {
  if (text.trim() === "") return null;
  const number = /^\s*\d+\s*$/.test(text) ? Number(text) : undefined;
  if (number === undefined || !Number.isSafeInteger(number)) throw new Error(people.wholeNumber);
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
  const [day, month] = [limit(messages, `messages-${tier}`), limit(voice, `voice-${tier}`)];
  const body = h("div", { class: "side-by-side" }, field(people.messages, day).node, field(people.voice, month).node);
  const save = async () => {
    await api.setTier(tier, { messages_per_day: limitOf(day.value), voice_minutes_per_month: limitOf(month.value) });
  };
  const name = people.tierHead[tier] ?? tier;
  return [h("h3", {}, name), savingForm({ label: name, testid: `tier-${tier}`, holds: people.tierHolds, body, save })];
}
