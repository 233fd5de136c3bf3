// Holds the state, and tells once per animation frame that it changed, however many frames of the
// server came in between. Text that is being written is told in each second one: nobody reads
// faster, and it costs half.

import { initialState, reduce } from "./state.js";

/** Text is shown at most so often, in milliseconds: a little less than two frames of most screens. */
const TEXT_MS = 30;

/** A store around a reducer, by default that of one conversation. `schedule(callback, isText)` decides when listeners hear of changes. */
export function createStore({ initial = initialState(), reducer = reduce, schedule = nextFrame } = {}) {
  let state = initial;
  /** The news that listeners have not heard yet: undefined for nothing, true for text alone, and false for more. */
  let pending;
  const listeners = [];
  const tell = () => {
    // News that came after text was told before the turn of the text.
    if (pending === undefined) return;
    pending = undefined;
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
      const isText = action.type === "delta";
      if (pending === false || (pending && isText)) return;
      pending = isText;
      schedule(tell, isText);
    },
  };
}

/** When listeners were told last, by the clock of animation frames. */
let told = -Infinity;

/** The next animation frame, of text the one after it if the last one told something; a tab in the background gets none, so a timer does it there. */
function nextFrame(callback, isText) {
  if (document.hidden) setTimeout(callback, 200);
  else
    requestAnimationFrame((now) => {
      if (isText && now - told < TEXT_MS) return nextFrame(callback, isText);
      told = now;
      return callback();
    });
}
