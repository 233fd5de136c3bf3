// Things that are due, in words, and where a person looks at each. Pure.

import { addressOf } from "../core/address.js";
import { heartbeat as said } from "./words.js";

/** kind → the place of its subject. A wake-up of things kept for Undo has none. */
const PLACES = {
  task: (id) => ["tasks", id],
  reminder: (id) => ["tasks", id],
  timer: () => ["assistant"],
  voice: () => ["assistant", "law"],
  approval: () => ["approvals"],
  follow_up: (id) => ["relay", id],
  campaign: (id) => ["campaigns", id],
};

/** `{ text, place }` of something that is due; without a place if it has none, or is of a kind that only a newer server knows. */
export function dueOf({ kind, subject, title }) {
  const place = PLACES[kind]?.(String(subject));
  return { text: (said.kinds[kind] ?? said.kinds.other)(title ?? "", subject), place: place && addressOf(...place) };
}

/** The place of what the heartbeat did. The conversation of an `instance` of Relay is no chat of a person. */
export const placeOfDone = ({ conversation, instance }) => (instance === undefined ? addressOf("chat", String(conversation)) : addressOf("relay", String(instance)));
