// A finding of a search: the conversation, and the place with the words in it.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { localTime, shortTime } from "../core/times.js";
import { words } from "../core/words.js";

/** Rows for the list. Pure. */
export function searchRows(found) {
  return found.map(({ conversation, title, turn, role, at, snippet }, index) => ({
    key: `found:${conversation}:${turn ?? "title"}:${role ?? ""}:${index}`,
    kind: "found",
    id: conversation,
    turn,
    part: role === "assistant" ? "answer" : undefined,
    title: title ?? "",
    at,
    snippet,
  }));
}

/** `<l3-found>`: one finding; `data` is a row of it. */
export class Found extends HTMLElement {
  set data({ id, turn, part, title, at, snippet = [] }) {
    const pieces = snippet.map(({ text, hit }) => (hit ? h("mark", {}, text) : text));
    const link = h("a", { href: addressOf("chat", ...[id, turn, part].filter(Boolean)) }, h("span", { class: "conversation-title", dir: "auto" }, title || words.dock.conversation(id)));
    if (pieces.length > 0) link.append(h("span", { class: "found-snippet", dir: "auto" }, pieces));
    if (at) link.append(h("time", { datetime: at, title: localTime(at) }, shortTime(at)));
    this.replaceChildren(link);
  }
}

customElements.define("l3-found", Found);
