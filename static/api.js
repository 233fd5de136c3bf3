// Asks the server's HTTP interface for what no frame says: lists for the panel, and changes made there. No DOM, no state of its own.

/** The lists of the panel: where each is asked for, and what of the answer is kept. */
const LISTS = {
  capabilities: { path: "/api/capabilities", read: (answer) => arrayIn(answer, "capabilities").map(withEnabled) },
  secrets: { path: "/api/secrets", read: (answer) => arrayIn(answer, "secrets") },
  approvals: { path: "/api/approvals?state=pending", read: (answer) => arrayIn(answer, "approvals") },
  usage: { path: "/api/usage", read: (answer) => answer },
  tasks: { path: "/api/tasks", read: (answer) => arrayIn(answer, "tasks") },
};

const arrayIn = (answer, field) =>
  Array.isArray(answer) ? answer : Array.isArray(answer?.[field]) ? answer[field] : [];
const withEnabled = (entry) => ({ ...entry, enabled: entry.enabled ?? entry.state !== "disabled" });

/** The interface, spoken through `fetch`. Every function rejects with an `Error` whose message is a sentence for a person. */
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
      throw new Error("The server cannot be reached.");
    }
    const answer = await response.json().catch(() => undefined);
    if (response.ok) return answer;
    const said = typeof answer?.error === "string" && answer.error !== "" ? answer.error : undefined;
    throw new Error(said ?? `The server refused this (${response.status}).`);
  }
  const capability = (name) => `/api/capabilities/${encodeURIComponent(name)}`;
  return {
    /** One of the lists: `capabilities`, `secrets`, `approvals` (those that wait), `usage` or `tasks`. */
    list: async (kind) => LISTS[kind].read(await ask("GET", LISTS[kind].path)),
    /** The page of frames before `before`, and where the one before it ends. */
    frames: (conversation, before) =>
      ask("GET", `/api/conversations/${encodeURIComponent(conversation)}/frames?before=${before}`),
    /** One capability whole, with its source. */
    capability: (name) => ask("GET", capability(name)),
    /** Makes a capability callable, or not callable any more. */
    enable: (name, enabled) => ask("POST", `${capability(name)}/${enabled ? "enable" : "disable"}`, {}),
    /** Puts back what a call deleted or overwrote. */
    undo: (call) => ask("POST", `/api/calls/${encodeURIComponent(call)}/undo`, {}),
    /** Sets a secret. The value goes to the server and stays nowhere here. */
    setSecret: (name, value) => ask("PUT", `/api/secrets/${encodeURIComponent(name)}`, { value }),
    /** Removes a secret. */
    removeSecret: (name) => ask("DELETE", `/api/secrets/${encodeURIComponent(name)}`),
  };
}
