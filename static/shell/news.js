// News from the moment when the line is up: what a screen reader is told, and Lea and Law in every
// place.

import { shownState } from "../core/workspace.js";
import { announcer } from "./announcer.js";
import { listenForTodos } from "./todos.js";

/** Begins to tell it. `node` is the live region. */
export function listenForNews({ session, announce, node }) {
  const sayNews = announcer(node);
  session.store.subscribe((workspace) => sayNews(shownState(workspace)));
  sayNews(shownState(session.store.getState()));
  listenForTodos({ session, announce });
}
