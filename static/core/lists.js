// Keeps the lists fresh: asks when the line comes up, when something happened that changes them,
// and when a person opens one.

import { isMember } from "./characters.js";
import { openTurns } from "./state-parts.js";

/** Conversations are asked for no more often, in milliseconds: a turn changes their list twice and more. */
const CALM_MS = 400;

/** A listener for the store. `api` as in `api.js`; `opened(kind)` says whether a person looks at a list. */
export function createLists({ api, dispatch, opened, clock = globalThis }) {
  const running = new Map();
  let seen = {};
  let marks = new Map([["elsewhere", 0]]);
  let calm;
  let isLate = false;

  /** Asks for a list; resolves when it is known. */
  function load(kind) {
    // An answer may lack changes made while it was under way: one more question follows, not one
    // for each change.
    const under = running.get(kind);
    if (under) {
      under.again = true;
      return under.done;
    }
    const mine = { again: false };
    running.set(kind, mine);
    mine.done = ask(kind, mine);
    return mine.done;
  }

  async function ask(kind, mine) {
    do {
      mine.again = false;
      try {
        dispatch({ type: "@list", kind, entries: await api.list(kind) });
      } catch (error) {
        dispatch({ type: "@list", kind, error: error.message });
      }
    } while (mine.again);
    running.delete(kind);
  }

  /** Asks for the conversations, or if that was just done, in a moment. */
  function loadConversations() {
    isLate = calm !== undefined;
    if (isLate) return;
    load("conversations");
    calm = clock.setTimeout(() => {
      calm = undefined;
      if (isLate) loadConversations();
    }, CALM_MS);
  }

  function changed(state) {
    if (state.connection.status !== "connected") {
      seen = {};
      return;
    }
    // The words of the conversation come first: these would be asked for, read and shown while they
    // are awaited.
    if (state.historyAfter === null) return;
    const now = new Map(state.activity).set("elsewhere", state.changedLists?.conversations ?? 0);
    // A conversation that is heard from now on is no news: the list has what it holds.
    if ([...now].some(([of, mark]) => (marks.get(of) ?? mark) !== mark)) loadConversations();
    marks = now;
    const news = {
      capabilities: state.capabilities,
      approvals: state.elsewhere.ids,
      secrets: true,
      usage: state.turns.size - openTurns(state.turns).length,
      tasks: true,
      timer: state.timers ?? "",
    };
    // Approvals are asked for only where some wait elsewhere: as a rule none do.
    // Capabilities are the owner's.
    const wanted = { capabilities: !isMember(state.hello), tasks: true, timer: true, approvals: state.elsewhere.ids.length > 0 };
    for (const kind of Object.keys(news)) {
      const [here, elsewhere] = [news[kind], state.changedLists?.[kind]];
      if (seen[kind]?.here === here && seen[kind].elsewhere === elsewhere) continue;
      if (!(wanted[kind] ?? opened(kind))) continue;
      seen[kind] = { here, elsewhere };
      load(kind);
    }
  }

  return { load, changed };
}
