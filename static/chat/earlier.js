// Loads older frames, a page at a time; none comes twice, and a page cuts no turn.

import { words } from "../core/words.js";

/** A function that loads the page before what is known. `api` as in `api.js`; a failure becomes a notice. */
export function createEarlier({ api, getState, dispatch }) {
  let asking = false;
  return async function loadEarlier() {
    const { hello, historyAfter } = getState();
    if (asking || !hello || !(historyAfter > 0)) return;
    asking = true;
    try {
      const { frames, before, from } = await api.frames(hello.conversation, historyAfter + 1);
      // The server may have got another past meanwhile.
      if (getState().hello?.conversation !== hello.conversation) return;
      dispatch({ type: "@frames", conversation: hello.conversation, frames });
      dispatch({ type: "@history", conversation: hello.conversation, after: (before ?? 1) - 1, from });
    } catch (error) {
      dispatch({ type: "error", conversation: hello.conversation, content: words.talk.notEarlier(error.message) });
    } finally {
      asking = false;
    }
  };
}
