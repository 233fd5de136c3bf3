// The description of a capability for a person: it is written for the assistant, and its first
// sentence says what the capability does.

import { h } from "../core/dom.js";
import { saidNodes } from "../ui/said.js";

/** `{ lead, rest }`: the first sentence, and what follows it. */
export function purposeOf(description) {
  const [lead = ""] = /^.*?[.!?](?=\s+\p{Lu})/su.exec(description) ?? [description];
  return { lead, rest: description.slice(lead.length).trim() };
}

/** The first sentence as a paragraph; nothing if there is no description. */
export function purposeNode(description) {
  return description ? h("p", { class: "capability-said", dir: "auto" }, saidNodes(purposeOf(description).lead)) : "";
}
