// The states of a call, as `docs/states.md` draws them. Pure.

const WAYS = {
  idle: { call: "connecting" },
  connecting: { beat: "active", end: "idle", fail: "error" },
  active: { beat: "active", end: "idle", fail: "error" },
  // The page calls again; to the server that is another call.
  error: { call: "connecting", end: "idle" },
};

/** The state after an input; nothing if the state does not take it. */
export const nextState = (state, input) => WAYS[state]?.[input];
