// The state of a conversation as the field sees it. Pure.

import { capabilityList, taskLists } from "../core/entries.js";
import { blindness } from "../core/images.js";
import { waiting } from "../core/state-law.js";
import { openTurns } from "../core/state-parts.js";
import { decidingWords } from "../core/text.js";
import { suggestionsOf } from "./greetings.js";

/** The `data` of `<l3-composer>`. `all` is the state over all conversations, from which suggestions are made. */
export function composerData(state, isEmpty, all) {
  const open = openTurns(state.turns);
  const waits = waiting(state);
  const [first] = waits;
  const { hello } = state;
  return {
    busy: open.length > 0,
    // A turn runs that takes words while it goes on. While a question waits, `steer` says nothing.
    steers: open.length > 0 && waits.length === 0 && !hello?.queueing?.includes(hello.conversation),
    stopping: open.some(({ turn }) => turn.stopping),
    waits: waits.length,
    words: decidingWords(first?.shown?.words),
    declines: first?.shown?.words?.others_decline === true,
    connected: state.connection.status === "connected",
    suggestions: suggestionsOf(hello, isEmpty, isEmpty ? { capabilities: capabilityList(all), tasks: taskLists(all).open } : {}),
    conversation: hello?.conversation,
    blind: blindness(hello),
  };
}
