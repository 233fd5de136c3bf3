// Lea and Law: which conversation is with whom, and what a person may see who is not the owner.
// Pure.

import { waiting } from "./state-law.js";
import { mainState } from "./workspace.js";

/** The profiles that are characters. */
export const CHARACTERS = ["lea", "law"];

/** The conversation with each of them, as far as it was used: `{ lea, law }`. */
export function conversationsOf(workspace) {
  const { hello, lists } = mainState(workspace);
  // One that was made since the greeting stands in the list alone.
  const all = { ...hello?.conversations, ...lists.timer?.entries?.conversations };
  return Object.fromEntries(CHARACTERS.filter((name) => all[name] !== undefined).map((name) => [name, all[name]]));
}

/** The character with whom a conversation is; nothing if it is with nobody of them. */
export function characterOf(workspace, conversation) {
  const found = Object.entries(conversationsOf(workspace)).find(([, id]) => id === conversation);
  return found?.[0];
}

/** How many questions of the characters wait for a person. */
export function askedByCharacters(workspace) {
  const ids = new Set();
  for (const conversation of Object.values(conversationsOf(workspace))) {
    const state = workspace.states.get(conversation);
    for (const { id } of state ? waiting(state) : []) ids.add(id);
    for (const entry of mainState(workspace).elsewhere.known.values()) if (entry.conversation === conversation) ids.add(entry.id);
  }
  return ids.size;
}

/** True for a user who is not the owner: their main conversation is the one with Lea. */
export const isMember = (hello) => Boolean(hello) && hello.conversations?.lea === hello.conversation;
