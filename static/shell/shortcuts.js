// The keys of the page. None takes a key from a person who writes, but for Escape and those with
// Ctrl, ⌘ or Alt.

import { words } from "../core/words.js";
import { shownState } from "../core/workspace.js";
import { isBusy } from "../core/state.js";

/** How soon a second Escape has to follow the first: while the line that asks for it stands. */
const AGAIN_MS = 8000;

/** The meaning of a key press: the name of an action, or `undefined`. `writes` is true in a field. */
export function meaning(event, writes) {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (event.isComposing || event.defaultPrevented) return undefined;
  if (ctrlKey || metaKey) {
    const low = key.toLowerCase();
    if (low === "k" && !shiftKey && !altKey) return "palette";
    if (shiftKey && !altKey) return { o: "new", f: "search" }[low];
    return low === "f" && !altKey ? "find" : undefined;
  }
  if (altKey) return { ArrowUp: "previous", ArrowDown: "next" }[key];
  if (key === "Escape") return "stop";
  return writes ? undefined : { "/": "write", "?": "help", "[": "list" }[key];
}

/** Listens for the keys. */
export function listenForKeys({ actions, session, inChat, now = () => performance.now() }) {
  let pressed = -Infinity;
  const stop = (event) => {
    if (!inChat() || !isBusy(shownState(session.store.getState()))) return;
    const written = event.target.closest?.("textarea, input")?.value ?? "";
    // A person who writes may have meant the field and not the turn.
    if (written !== "" && now() - pressed > AGAIN_MS) {
      pressed = now();
      import("../ui/toast.js").then(({ toast }) => toast(words.stopAgain));
      return;
    }
    pressed = -Infinity;
    actions.stop();
  };
  addEventListener("keydown", (event) => {
    const writes = event.target.closest?.("input, textarea, select, [contenteditable]") !== null && event.target.closest !== undefined;
    const name = meaning(event, writes);
    if (!name || document.querySelector("dialog:modal, .menu:popover-open")) return;
    if (name === "stop") {
      stop(event);
      return;
    }
    // As a rule the browser finds; a conversation of which some rows are not in the page looks
    // itself.
    if (name === "find" && dispatchEvent(new CustomEvent("find-here", { cancelable: true }))) return;
    event.preventDefault();
    if (name === "find") return;
    if (name === "help") import("./keys.js").then(({ showKeys }) => showKeys());
    else if (name === "previous" || name === "next") dispatchEvent(new CustomEvent("go-turn", { detail: name === "next" ? 1 : -1 }));
    else actions[name]();
  });
}
