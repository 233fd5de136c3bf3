// Lea and Law, and what else has a place of its own: which conversation is with whom, and what a
// person may see who is not the owner. Pure.

import { waiting } from "./state-law.js";
import { mainState } from "./workspace.js";

/** The profiles that are characters. */
export const CHARACTERS = ["lea", "law"];

/** The main conversation of each profile, as far as it was used. */
function mainsOf(workspace) {
  const { hello, lists } = mainState(workspace);
  const all = { ...hello?.conversations, ...lists.timer?.entries?.conversations };
  // One that was made since the greeting stands in a list alone.
  for (const { main, profile, id } of lists.conversations?.entries?.conversations ?? []) if (main) all[profile] = id;
  return all;
}

/** The conversation with each of them, as far as it was used: `{ lea, law }`. */
export function conversationsOf(workspace) {
  return Object.fromEntries(Object.entries(mainsOf(workspace)).filter(([name]) => CHARACTERS.includes(name)));
}

/** The place of a conversation that has one of its own, as in an address; nothing if that is Chat, which alone shows the operator's by turns. */
export function placeOf(workspace, conversation, turn) {
  const all = mainsOf(workspace);
  const name = Object.keys(all).find((each) => all[each] === conversation);
  return CHARACTERS.includes(name) ? ["assistant", name] : name === "operator" && !turn ? [name] : undefined;
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
