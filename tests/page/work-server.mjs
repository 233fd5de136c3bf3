// Stands in for the server beside the places Tasks and Capabilities: it answers `/api` as
// docs/api.md says, carries orders out, and tells of them over the line. For tests in node and in a
// browser.

/** `{ fetch, Socket, tell(frame), tasks, capabilities, asked, will, imported }`; `will` says what becomes of the next orders, `imported` has the folders that were brought. */
export function workServer({ tasks = [], capabilities = [] } = {}) {
  const frames = [];
  const sockets = [];
  const turns = new Map();
  const asked = [];
  const will = { state: "done" };
  const imported = [];
  const shipped = [{ name: "feed", description: "Reads feeds as `json`.", grants_in_words: [], installed: null }];
  const tell = (frame) => {
    if (frame.seq === undefined && frame.type !== "changed") Object.assign(frame, { conversation: 1, seq: frames.push(frame) });
    for (const socket of sockets) socket.onmessage?.({ data: JSON.stringify(frame) });
  };
  const order = (name, carry) => {
    const turn = turns.size + 1;
    turns.set(turn, undefined);
    const result = (fields) => tell({ type: "tool_result", turn, call: turn, name, result: "{}", ok: true, ms: 3, ...fields });
    tell({ type: "turn", turn, state: "queued", origin: "command", content: name });
    // The answer to the order comes before the order is carried out.
    setTimeout(() => {
      if (will.state === "waits") return turns.set(turn, { state: "awaiting_approval", approval: 7, results: [] });
      if (will.state === "done") result(carry() ?? {});
      else result({ ok: false, said: "The rules do not allow it.", refusal: "forbidden", uncertain: will.state === "unknown", fault: will.fault });
      tell({ type: "turn", turn, state: "completed" });
      return turns.set(turn, { state: "completed", approval: null, results: [] });
    });
    return [202, { turn, conversation: 1 }];
  };
  const changed = (task, fields) => {
    Object.assign(task, fields, { due_at: (fields.due_at ?? task.due_at) || null, updated_at: new Date().toISOString() });
    tell({ type: "task", task: { ...task }, deleted: false });
  };
  const named = (name) => capabilities.find((each) => each.name === name);
  const live = (entry) => tell({ type: "capability", name: entry.name, version: entry.version, enabled: entry.state !== "disabled" });

  const routes = [
    [/^GET \/api\/tasks$/, () => [200, { tasks, more: false }]],
    [/^POST \/api\/tasks$/, (_, body) => order("manage_tasks", () => changed(tasks[tasks.push({ id: 100 + tasks.length, details: "", status: "pending", due_at: null, conversation: 1 }) - 1], body))],
    [/^PATCH \/api\/tasks\/(\d+)$/, ([, id], body) => order("manage_tasks", () => changed(tasks.find((task) => task.id === Number(id)), body))],
    [/^DELETE \/api\/tasks\/(\d+)$/, ([, id]) => order("manage_tasks", () => tell({ type: "task", task: tasks.splice(tasks.findIndex((task) => task.id === Number(id)), 1)[0], deleted: true }))],
    [/^GET \/api\/heartbeat$/, () => [200, { next: [{ kind: "task", subject: 1, at: "2026-11-23T09:00:00Z", title: "Water" }], did: [{ at: "2026-11-22T09:00:00Z", said: "The task “Water” fell due.", conversation: 1 }] }]],
    [/^GET \/api\/capabilities$/, () => [200, { capabilities: capabilities.map((each) => ({ versions: 2, calls: { calls: 0, failures: 0, p50_ms: null, per_day: [], last_error: null }, ...each })) }]],
    [/^GET \/api\/capabilities\/(\w+)(?:\?version=(\d+))?$/, ([, name, version]) => whole(named(name), version)],
    [/^GET \/api\/capabilities\/(\w+)\/diff/, () => [200, { diff: "@@ -1 +1 @@\n-let a = 1;\n+let a = 2;\n" }]],
    [/^POST \/api\/capabilities\/(\w+)\/call$/, ([, name], body) => order(name, () => ({ result: JSON.stringify(body.arguments), said: `\`${name}\` was called.`, logs: ["a line"] }))],
    [/^POST \/api\/capabilities\/(\w+)\/test/, () => [200, { passed: 1, failed: 1, results: [{ params: {}, ok: true }, { params: { n: 0 }, ok: false, error: { message: "no such number" } }] }]],
    [/^POST \/api\/capabilities\/(\w+)\/rollback$/, ([, name], body) => rolledBack(named(name), body)],
    [/^POST \/api\/capabilities\/(\w+)\/(enable|disable)$/, ([, name, way]) => (Object.assign(named(name), { state: way === "enable" ? "installed" : "disabled" }), live(named(name)), [200, {}])],
    [/^GET \/api\/capabilities\/(\w+)\/export(?:\?version=(\d+))?$/, ([, name, version]) => [200, { "capability.json": { name, version: Number(version) }, "source.js": "let a = 1;" }]],
    [/^POST \/api\/capabilities\/import$/, (_, folder) => order("write_capability", () => (imported.push(folder), written(folder["capability.json"].name ?? JSON.parse(folder["capability.json"]).name)))],
    [/^GET \/api\/shipped$/, () => [200, { shipped }]],
    [/^POST \/api\/shipped\/(\w+)\/install$/, ([, name]) => order("write_capability", () => ((shipped.find((each) => each.name === name).installed = 1), written(name)))],
    [/^GET \/api\/turns\/(\d+)/, async ([, turn]) => {
      while (!turns.get(Number(turn))) await new Promise((resolve) => setTimeout(resolve));
      return [200, turns.get(Number(turn))];
    }],
    [/^GET \/api\/conversations\/1\/frames/, () => [200, { frames, before: null }]],
    [/^GET \/api\/conversations/, () => [200, { conversations: [], next: null }]],
  ];

  /** A new capability is there from now on. */
  function written(name) {
    capabilities.push({ name, version: 1, state: "installed", description: "New.", grants: {}, grants_in_words: [] });
    live(named(name));
    return { said: `\`${name}\` is live.`, version: 1 };
  }

  function whole(entry, version = entry?.version) {
    if (!entry) return [404, { error: "there is no such capability" }];
    const versions = [1, 2].map((each) => ({ version: each, created_at: "2026-11-20T09:00:00Z" }));
    return [200, { parameters: {}, source: "let a = 1; // \u202e", language: "javascript", grants: {}, grants_in_words: [], tests: [{ params: {} }], ...entry, version: Number(version), live: entry.version, versions }];
  }

  function rolledBack(entry, { version, confirm_grants: confirmed }) {
    if (!confirmed) return [409, { error: "it may do more", grants_in_words: ["Send requests to a.example."] }];
    entry.version = version;
    live(entry);
    return [200, {}];
  }

  async function fetch(path, { method = "GET", body } = {}) {
    asked.push(`${method} ${path}`);
    if (will.fails) throw new TypeError("no line");
    for (const [pattern, answer] of routes) {
      const found = pattern.exec(`${method} ${path}`);
      if (!found) continue;
      const [status, told] = await answer(found, body ? JSON.parse(body) : {});
      return { ok: status < 400, status, text: async () => JSON.stringify(told) };
    }
    return { ok: true, status: 200, text: async () => "{}" };
  }

  class Socket {
    constructor() {
      sockets.push(this);
    }
    send() {}
    close() {}
  }
  const greet = () => tell({ type: "hello", seq: 0, version: "1", conversation: 1, conversations: {}, last_seq: 0, model: { kind: "local" } });
  return { fetch, Socket, tell, greet, tasks, capabilities, asked, will, imported };
}
