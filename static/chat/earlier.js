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

/** A function that loads the page before what is known, and resolves when it is there. `api` as in `api.js`; a failure becomes a notice. */
export function createEarlier({ api, getState, dispatch }) {
  /** conversation → its page that is on its way. */
  const asked = new Map();

  async function load(conversation) {
    if (!(getState().historyAfter > 0)) return;
    try {
      await loadPage({ api, getState, dispatch });
    } catch (error) {
      dispatch({ type: "error", conversation, content: words.talk.notEarlier(error.message) });
    }
  }

  return async function loadEarlier() {
    const { hello } = getState();
    if (!hello) return;
    const { conversation } = hello;
    if (!asked.has(conversation)) asked.set(conversation, load(conversation).finally(() => asked.delete(conversation)));
    await asked.get(conversation);
  };
}
