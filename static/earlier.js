// Loads older frames, a page at a time; none comes twice, and a page cuts no turn.

/** A function that loads the page before what is known. `api` as in `api.js`; a failure becomes a notice. */
export function createEarlier({ api, getState, dispatch }) {
  let asking = false;
  return async function loadEarlier() {
    const { hello, historyAfter } = getState();
    if (asking || !hello || !(historyAfter > 0)) return;
    asking = true;
    try {
      const { frames, before } = await api.frames(hello.conversation, historyAfter + 1);
      // The server may have got another past meanwhile.
      if (getState().hello?.conversation !== hello.conversation) return;
      for (const frame of frames) dispatch(frame);
      dispatch({ type: "@history", after: (before ?? 1) - 1 });
    } catch (error) {
      dispatch({ type: "error", content: `Earlier messages could not be loaded. ${error.message}` });
    } finally {
      asking = false;
    }
  };
}
