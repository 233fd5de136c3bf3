// The person who looks at this tab: the owner, or another user, for whom there are fewer places.
// The greeting says it; the tab keeps it over a reload.

import { isMember } from "../core/characters.js";

const KEY = "level3.role";

/** `{ isKnown(), isMember(), greeted(hello) }`; `greeted` is true if it is somebody else than was thought. */
export function createWho(storage) {
  let role = storage.getItem(KEY);
  return {
    isKnown: () => role !== null,
    isMember: () => role === "member",
    greeted(hello) {
      const before = role ?? "owner";
      role = isMember(hello) ? "member" : "owner";
      try {
        storage.setItem(KEY, role);
      } catch {
        // The next load asks anew.
      }
      return before !== role;
    },
  };
}
