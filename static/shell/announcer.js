// Tells a screen reader what came in: finished messages, failures and the state of the line, not
// each piece of text.

import { oneLine } from "../core/text.js";
import { words, wordsOf } from "../core/words.js";

const LONGEST = 600;
const { announced: said } = await wordsOf("announced");

/** A listener for the store that writes into `node`, an `aria-live` region. History is not read out, only what is new. */
export function announcer(node) {
  const known = new Map();
  let looked;
  let connection;
  return (state) => {
    // Loaded frames are history, and nothing is told before all of it is there.
    if (!state.hello || state.historyAfter === null) return;
    const { conversation } = state.hello;
    let seen = known.get(conversation) ?? Math.max(state.hello.last_seq, 0);
    if (!known.has(conversation) && state.hello.last_seq === 0) seen = state.lastSeq;
    const news = [];
    // While text is written nothing is recorded.
    for (const item of looked === state.items ? [] : state.items.values()) {
      if (item.at <= seen) continue;
      if (item.kind === "assistant" && item.final) news.push(oneLine(item.content, LONGEST));
      if (item.kind === "capability")
        news.push(said.capability(item.name, item.version, item.enabled));
      if (item.kind === "approval" && item.shown && !item.decision) news.push(asked(item.shown.what.join(" ")));
      if (item.kind === "error") news.push(said.error(oneLine(item.content, LONGEST)));
      if (item.kind === "end") news.push(oneLine(item.content || words.talk[item.state === "aborted" ? "aborted" : "ended"], LONGEST));
      if (item.kind === "held") news.push(oneLine(item.content, LONGEST));
      if (item.kind === "due") news.push(said.due);
    }
    looked = state.items;
    known.set(conversation, Math.max(seen, state.lastSeq));
    const { status } = state.connection;
    if (connection !== undefined && connection !== status)
      news.push(status === "connected" ? said.again : said.connection(words.line[status]));
    connection = status;
    if (news.length > 0) Promise.all(news).then((all) => (node.textContent = all.join(". ")));
  };
}

/** A question may hide characters. The code that writes them out comes with the first one. */
async function asked(what) {
  const { plainVisible } = await import("../core/visible.js");
  return oneLine(said.approval(plainVisible(what)), LONGEST);
}
