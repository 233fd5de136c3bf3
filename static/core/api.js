// Asks the server's HTTP interface for what no frame says: lists for the panel, and changes made
// there. No DOM, no state of its own.

import { readJson } from "./json.js";
import { hearTime } from "./server-clock.js";
import { words } from "./words.js";

/** The lists of the panel: where each is asked for, and what of the answer is kept. */
const LISTS = {
  capabilities: { path: "/api/capabilities", read: (answer) => arrayIn(answer, "capabilities").map(withEnabled) },
  secrets: { path: "/api/secrets", read: (answer) => arrayIn(answer, "secrets") },
  approvals: { path: "/api/approvals?state=pending", read: (answer) => arrayIn(answer, "approvals") },
  usage: { path: "/api/usage", read: (answer) => answer },
  tasks: { path: "/api/tasks", read: (answer) => arrayIn(answer, "tasks") },
  conversations: { path: "/api/conversations", read: (answer) => answer },
  timer: { path: "/api/assistant", read: (answer) => answer },
  decisions: { path: "/api/approvals", read: (answer) => arrayIn(answer, "approvals") },
};

const arrayIn = (answer, field) =>
  Array.isArray(answer) ? answer : Array.isArray(answer?.[field]) ? answer[field] : [];
/** The server's words as a sentence, since others stand before it; a name that they begin with stays as it is. */
const sentence = (said) => said.replace(/^[a-z](?=[a-z]*[ ,])/, (first) => first.toUpperCase()).replace(/[\w\x60]$/, "$&.");
const withEnabled = (entry) => ({ ...entry, enabled: entry.enabled ?? entry.state !== "disabled" });

/**
 * The interface, spoken through `fetch`. Every function rejects with an `Error` whose message is a sentence for a person; `grants` are the
 * powers that the server wants to be confirmed first, if it names some, and `at` is the field at fault (`{ field, says }`), if it is one.
 */
export function createApi(fetch = (...all) => globalThis.fetch(...all)) {
  async function ask(method, path, body) {
    const options = { method, headers: { accept: "application/json" }, cache: "no-store" };
    if (body !== undefined) {
      options.headers["content-type"] = "application/json";
      options.body = JSON.stringify(body);
    }
    let response;
    try {
      response = await fetch(path, options);
    } catch {
      throw new Error(words.failed.unreachable);
    }
    hearTime(response.headers?.get("date"));
    // An answer may be empty; a line that breaks within one is a failure of its own.
    let answer;
    try {
      answer = readJson(await response.text());
    } catch ({ name }) {
      if (name !== "SyntaxError") throw new Error(words.failed.unreachable);
    }
    if (response.ok) return answer;
    const said = answer?.error;
    const refusal = new Error(said && typeof said === "string" ? sentence(said) : words.failed.refused(response.status));
    throw Object.assign(refusal, { status: response.status, grants: arrayIn(answer, "grants_in_words"), at: answer?.at });
  }
  const conversation = (id) => `/api/conversations/${encodeURIComponent(id)}`;
  return {
    /** Asks for what is loaded when it is needed: `api-work.js` and its like, and a part of Chat. */
    ask,
    /** How far a turn is; answers when it is over or waits for a person, or after a while. */
    turn: (turn) => ask("GET", `/api/turns/${encodeURIComponent(turn)}?wait=true`),
    /** The newest frames of a conversation. */
    newestFrames: (id, limit) => ask("GET", `${conversation(id)}/frames?limit=${limit}`),
    /** One of the lists: `capabilities`, `secrets`, `approvals` (those that wait), `usage`, `tasks`, `conversations`, `timer` (with all else that Lea and Law begin with) or `decisions`. */
    list: async (kind) => LISTS[kind].read(await ask("GET", LISTS[kind].path)),
    /** The page of frames before `before`, by default the newest, and where the one before it ends; of `limit` frames, by default 200. */
    frames: (id, before, limit) => ask("GET", `${conversation(id)}/frames${before === undefined ? "" : `?before=${before}`}${limit === undefined ? "" : `&limit=${limit}`}`),
    /** Makes a conversation; with `from` (`{ conversation, seq }`) one that goes on from that place of another. */
    newConversation: (from) => ask("POST", "/api/conversations", from ? { from } : {}),
    /** Messages and titles with these words. */
    search: (text) => ask("GET", `/api/search?${new URLSearchParams({ q: text })}`),
    /** Puts back what a call deleted or overwrote. */
    undo: (call) => ask("POST", `/api/calls/${encodeURIComponent(call)}/undo`, {}),
  };
}
