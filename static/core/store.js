// Holds the state, and tells once per animation frame that it changed, however many frames of the server came in between.

import { initialState, reduce } from "./state.js";

/** A store around a reducer, by default that of one conversation. `schedule(callback)` decides when listeners hear of changes. */
export function createStore({ initial = initialState(), reducer = reduce, schedule = nextFrame } = {}) {
  let state = initial;
  let pending = false;
  const listeners = [];
  const tell = () => {
    pending = false;
    for (const listener of [...listeners]) {
      try {
        listener(state);
      } catch (error) {
        console.error("a part of the page could not show what is new", error);
      }
    }
  };
  return {
    getState: () => state,
    /** Tells `listener` from now on, until `signal` aborts. */
    subscribe(listener, signal) {
      listeners.push(listener);
      signal?.addEventListener("abort", () => listeners.splice(listeners.indexOf(listener), 1));
    },
    dispatch(action) {
      const next = reducer(state, action);
      if (next === state) return;
      state = next;
      if (!pending) {
        pending = true;
        schedule(tell);
      }
    },
  };
}

/** The next animation frame; a tab in the background gets none, so a timer does it there. */
function nextFrame(callback) {
  if (document.hidden) setTimeout(callback, 200);
  else requestAnimationFrame(callback);
}
