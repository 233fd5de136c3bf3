// Keeps the panel's lists fresh: asks when the line comes up, when something happened that changes them, and when a person opens one.

import { hasEnded } from "./state-parts.js";

/** A listener for the store. `api` as in `api.js`; `opened(kind)` says whether a person looks at a list. */
export function createLists({ api, dispatch, opened }) {
  const running = new Map();
  let seen = {};

  async function load(kind) {
    // What happened while an answer was under way may not be in it: one more question follows, not one for each change.
    if (running.has(kind)) {
      running.set(kind, "again");
      return;
    }
    running.set(kind, "once");
    try {
      dispatch({ type: "@list", kind, entries: await api.list(kind) });
    } catch (error) {
      dispatch({ type: "@list", kind, error: error.message });
    }
    const again = running.get(kind) === "again";
    running.delete(kind);
    if (again) await load(kind);
  }

  function changed(state) {
    if (state.connection.status !== "connected") {
      seen = {};
      return;
    }
    const news = {
      capabilities: state.capabilities,
      approvals: state.elsewhere.ids,
      secrets: true,
      usage: endedTurns(state),
      tasks: true,
    };
    // Approvals are asked for only where some wait elsewhere: as a rule none do.
    const wanted = { capabilities: true, tasks: true, approvals: state.elsewhere.ids.length > 0 };
    for (const kind of Object.keys(news)) {
      if (seen[kind] === news[kind] || !(wanted[kind] ?? opened(kind))) continue;
      seen[kind] = news[kind];
      load(kind);
    }
  }

  return { load, changed };
}

function endedTurns(state) {
  let count = 0;
  for (const turn of state.turns.values()) if (hasEnded(turn)) count += 1;
  return count;
}
