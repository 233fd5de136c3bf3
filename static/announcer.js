// Tells a screen reader what came in: finished messages, failures and the state of the line, not each piece of text.

import { oneLine } from "./format.js";
import { plainVisible } from "./visible.js";

const LONGEST = 600;

/** A listener for the store that writes into `node`, an `aria-live` region. History is not read out, only what is new. */
export function announcer(node) {
  let seen;
  let connection;
  return (state) => {
    if (!state.hello) return;
    seen ??= state.hello.last_seq;
    const news = [];
    for (const item of state.items.values()) {
      if (item.at <= seen) continue;
      if (item.kind === "assistant" && item.final) news.push(oneLine(item.content, LONGEST));
      if (item.kind === "capability")
        news.push(`Capability ${item.name} version ${item.version} is ${item.enabled ? "live" : "disabled"}`);
      if (item.kind === "approval" && item.shown && !item.decision)
        news.push(oneLine(`Your approval is needed. ${plainVisible(item.shown.what.join(" "))}`, LONGEST));
      if (item.kind === "error") news.push(`Error: ${oneLine(item.content, LONGEST)}`);
      if (item.kind === "held") news.push(oneLine(item.content, LONGEST));
      if (item.kind === "due") news.push("A task fell due");
    }
    seen = Math.max(seen, state.lastSeq);
    const { status } = state.connection;
    if (connection !== undefined && connection !== status)
      news.push(status === "connected" ? "Connected again" : `Connection: ${status}`);
    connection = status;
    if (news.length > 0) node.textContent = news.join(". ");
  };
}
