// The words for how something came about: the proof of an effect, and the verdict on a call.

import { shortTime } from "../core/times.js";
import { effectWords } from "./rows.js";
import { campaigns as said } from "./words.js";

/** A proven effect, with the events and calls that show it. */
export function proofWords({ effect, events = [], calls = [] }) {
  const by = [events.length > 0 && said.byEvents(events), calls.length > 0 && said.byCalls(calls)].filter(Boolean);
  const told = effectWords(said.effects, effect.time ? { ...effect, time: shortTime(effect.time) } : effect);
  return by.length > 0 ? `${told} (${by.join(", ")})` : told;
}

/** The verdict on a call, as the audit has it: with the approval that allowed it, or why it was refused. */
export function verdictWords({ verdict, approval, refusal }) {
  const allowed = [said.verdicts[verdict] ?? verdict, approval && said.byApproval(approval)].filter(Boolean).join(", ");
  return [allowed, refusal].filter(Boolean).join(": ");
}
