// Loads older frames, a page at a time, or as far back as somebody looks; none comes twice, and a
// page cuts no turn.

import { words } from "../core/words.js";

/** A page on the way far back. */
const LONG_PAGE = 1000;

/** Loads what is before, page by page, until `isEnough()` or all of it is there; `getState` gives the state of the conversation. Rejects if a page cannot be had. */
export async function loadBack({ api, getState, dispatch }, isEnough = () => false) {
  while (getState()?.historyAfter > 0 && !isEnough()) await loadPage({ api, getState, dispatch }, LONG_PAGE);
}

async function loadPage({ api, getState, dispatch }, limit) {
  const { hello, historyAfter } = getState();
  const { conversation } = hello;
  const { frames, before, from } = await api.frames(conversation, historyAfter + 1, limit);
  // The server may have got another past meanwhile.
  if (getState()?.hello?.conversation !== conversation) return;
  dispatch({ type: "@frames", conversation, frames });
  dispatch({ type: "@history", conversation, after: (before ?? 1) - 1, from });
}

/** A function that loads the page before what is known. `api` as in `api.js`; a failure becomes a notice. */
export function createEarlier({ api, getState, dispatch }) {
  let asking = false;
  return async function loadEarlier() {
    const { hello, historyAfter } = getState();
    if (asking || !hello || !(historyAfter > 0)) return;
    asking = true;
    try {
      await loadPage({ api, getState, dispatch });
    } catch (error) {
      dispatch({ type: "error", conversation: hello.conversation, content: words.talk.notEarlier(error.message) });
    } finally {
      asking = false;
    }
  };
}
