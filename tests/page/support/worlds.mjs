// The words of the server of the screens' tests: a full world, and an empty one. In the shapes of
// `docs/api.md` and `docs/protocol.md`.

import { campaignWorld, noCampaigns } from "./campaign-world.mjs";
import { noOperator, operatorAnswers } from "./operator-world.mjs";
import { noRelay, relayWorld } from "./relay-world.mjs";
import { siteAnswers } from "./site-world.mjs";
import { assistantAnswer, peopleAnswers } from "./todo-server.mjs";
import { workAnswers } from "./work-world.mjs";

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** A talk with Lea: a task was made after a yes, one was pressed as done, and a question waits. */
function leaFrames(at) {
  const asked = (id, call, turn, question, more = {}) => ({ type: "approval", id, state: "pending", call, turn, tool: "createTask", arguments: { description: "x", target: { title: "x" } }, what: [question], question, why: "", can_always: false, words: { approve: ["yes"], deny: ["no"], others_decline: true }, expires_at: at(10 * MINUTE), ...more });
  return [
    { type: "turn", turn: 11, state: "queued", origin: "message", content: "add prepare the dinner party" },
    { type: "tool_call", name: "createTask", arguments: { description: "Prepare the dinner party" }, call: 21, turn: 11 },
    asked(61, 21, 11, "Should I create a task called “Prepare the dinner party”?"),
    { type: "approval", id: 61, state: "approved", call: 21, turn: 11, channel: "page", decided_at: at(0) },
    { type: "tool_result", name: "createTask", result: "{}", said: "Created the task “Prepare the dinner party” with 3 subtasks.", ok: true, call: 21, turn: 11, ms: 3 },
    { type: "assistant", content: "Got it. ✓", turn: 11, step: 2, final: true },
    { type: "turn", turn: 11, state: "completed" },
    { type: "turn", turn: 12, state: "queued", origin: "command", content: "completeTask #5" },
    { type: "tool_call", name: "completeTask", arguments: { taskName: "#5" }, call: 22, turn: 12 },
    { type: "tool_result", name: "completeTask", result: "{}", said: "Completed “A task that is done”.", ok: true, call: 22, turn: 12, ms: 3 },
    { type: "turn", turn: 12, state: "completed" },
    { type: "reminder", task: 1, remind_at: at(0), late: false, content: "Reminder: Water the plants" },
    { type: "turn", turn: 13, state: "queued", origin: "message", content: "delete the rent" },
    { type: "tool_call", name: "deleteTask", arguments: { taskName: "rent" }, call: 23, turn: 13 },
    asked(62, 23, 13, "Should I delete the task “Pay the rent”?", { tool: "deleteTask" }),
  ].map((frame, index) => ({ ...frame, conversation: 21, seq: index + 1, at: at((index - 20) * MINUTE) }));
}

/** Everything a person could meet, seen from `now` (milliseconds). */
export function fullWorld(now) {
  const at = (later) => new Date(now + later).toISOString();
  const conversation = (id, title, later, more = {}) => ({
    ...{ id, title, profile: "builder", main: id === 1, active_at: at(later) },
    ...{ running: false, waiting: false, pinned: false, archived: false, ...more },
  });
  const weather = {
    ...{ name: "weather", language: "javascript", replaces: null, diff: null },
    source: "export default function weather({ city }) {\n  return fetch(`https://api.example.com/${city}`).json();\n}",
    grants: { http: { hosts: ["api.example.com"] } },
    grants_in_words: ["Send any request to https://api.example.com."],
  };
  const asked = {
    ...{ tool: "write_capability", arguments: { name: "weather" }, why: "It asks for powers that nobody has approved yet.", can_always: false },
    what: ["Installs a new capability, `weather`.", "From then on it may, without being asked about again:", "Send any request to https://api.example.com."],
    words: { approve: ["CONFIRM"], deny: ["CANCEL"], others_decline: true },
    capability: weather,
  };
  const answer = "It works: **2026** is `MMXXVI`.\n\n```js\nconst a = 1;\n```\n\n| n | roman |\n|--:|---|\n| 4 | IV |\n";
  const frames = [
    { type: "turn", turn: 1, state: "queued", origin: "message", content: "Build a capability that converts numbers to Roman numerals, then try it" },
    { type: "turn", turn: 1, state: "running" },
    { type: "tool_call", name: "write_capability", arguments: { name: "roman_numeral", code: "export default () => 1;" }, call: 1, turn: 1 },
    { type: "tool_result", name: "write_capability", result: '{"name":"roman_numeral","version":1}', said: "Wrote the capability roman_numeral.", ok: true, call: 1, turn: 1, ms: 31 },
    { type: "capability", name: "roman_numeral", version: 1, enabled: true },
    { type: "tool_call", name: "execute_sql", arguments: { query: "SELECT nothing" }, call: 2, turn: 1 },
    { type: "tool_result", name: "execute_sql", result: "Error: column nothing does not exist", said: "The SQL failed: column nothing does not exist.", ok: false, call: 2, turn: 1, ms: 4 },
    { type: "assistant", content: answer, turn: 1, step: 2, final: true },
    { type: "turn", turn: 1, state: "completed", usage: { requests: 2, input_tokens: 900, output_tokens: 80, cost_micros: null }, ms: 1200 },
    { type: "turn", turn: 2, state: "queued", origin: "message", content: "And the weather?" },
    { type: "turn", turn: 2, state: "running" },
    { type: "tool_call", name: "write_capability", arguments: { name: "weather" }, call: 3, turn: 2 },
    { type: "approval", id: 5, state: "pending", call: 3, turn: 2, ...asked, expires_at: at(10 * MINUTE) },
  ].map((frame, index) => ({ ...frame, conversation: 1, seq: index + 1, at: at((index - 20) * MINUTE) }));
  const used = { requests: 4, input_tokens: 9123, output_tokens: 812, cost_micros: null };
  const task = (id, title, status, later) => ({ id, title, details: "", status, due_at: later === null ? null : at(later), updated_at: at(0) });
  const phone = (n, mine, text) => ({ n, address: "+491705550101", mine, text, at: at((n - 9) * MINUTE), id: `phone-${n}` });
  const calls = { calls: 12, failures: 1, p50_ms: 4, per_day: Array.from({ length: 30 }, (_, day) => (day % 5 === 4 ? 2 : 0)), last_error: null };
  const capability = (name, description, more = {}) => ({
    ...{ name, version: 1, state: "live", description, grants: {}, grants_in_words: [], versions: 1, updated_at: at(0), calls, ...more },
  });
  const pending = { id: 5, conversation: 1, turn: 2, call: 3, state: "pending", shown: asked, created_at: at(-MINUTE), expires_at: at(10 * MINUTE) };
  const approved = { ...pending, id: 3, state: "approved", channel: "page", decided_at: at(-MINUTE), shown: { ...asked, tool: "execute_sql", what: ["Deletes all rows of `books`."] } };
  return {
    frames,
    model: { kind: "local", provider: "ollama", name: "llama3" },
    api: {
      "/api/conversations": {
        conversations: [
          conversation(5, "Plans for the garden", -DAY, { pinned: true }),
          conversation(1, "Roman numerals, and a very long title that does not fit", -1000, { waiting: true }),
          conversation(8, "Weather next week", -1.1 * DAY),
          conversation(9, "Old thoughts", -12 * DAY),
        ],
        next: null,
      },
      "/api/tasks": {
        tasks: [
          { ...task(1, "Water the plants", "pending", -10 * MINUTE), subtasks: [{ id: 7, title: "Those on the balcony", completed: true }, { id: 8, title: "Those in the kitchen", completed: false }], remind_at: at(30 * MINUTE), recurrence: { rule: "weekdays" } },
          task(2, "Call the plumber about the kitchen", "in_progress", 60 * MINUTE),
          task(3, "Read a book", "pending", null),
          task(4, "Pay the rent", "pending", 3 * DAY),
          task(5, "A task that is done", "done", null),
        ],
        more: false,
      },
      ...siteAnswers(),
      ...peopleAnswers(now),
      ...relayWorld(at).answers,
      "/api/relay/loopback": { messages: [phone(1, false, "Good day, is the flat still free?"), phone(2, true, "It is. Friday at three?")] },
      ...operatorAnswers(at),
      ...campaignWorld(at).answers,
      "/api/assistant": assistantAnswer(now),
      "/api/conversations/21/frames": { frames: leaFrames(at), before: null, from: null },
      ...workAnswers(at, capability("roman_numeral", "Converts numbers to Roman numerals.", { version: 2, versions: 2 })),
      "/api/capabilities": {
        capabilities: [
          capability("roman_numeral", "Converts numbers to Roman numerals.", { version: 2, versions: 2 }),
          capability("weather", "Asks a server for the weather.", { state: "disabled", grants: weather.grants, grants_in_words: weather.grants_in_words }),
        ],
      },
      "/api/secrets": { secrets: [{ name: "API_KEY", created_at: at(-2 * DAY), updated_at: at(-DAY), used_by: ["weather"], readable: true }] },
      "/api/usage": {
        today: used,
        days: [{ day: at(0).slice(0, 10), ...used }],
        models: [{ model: "llama3", ...used, p50_ms: 1840 }],
        total: { ...used, tool_calls: { done: 5, failed: 1, unknown: 0, open: 0 } },
      },
      "/api/approvals": { approvals: [pending, approved] },
      "/api/approvals/5": pending,
      "/api/search": {
        found: [{ conversation: 8, title: "Weather next week", turn: 70, role: "user", at: at(-DAY), snippet: [{ text: "The ", hit: false }, { text: "weather", hit: true }] }],
      },
    },
  };
}

/** A server that was never talked to, with the built-in tour. */
export function emptyWorld(now) {
  const { api } = fullWorld(now);
  const none = { requests: 0, input_tokens: 0, output_tokens: 0, cost_micros: null };
  return {
    frames: [],
    model: { kind: "tour", provider: "", name: "" },
    api: {
      ...api,
      ...noRelay,
      ...noOperator,
      ...noCampaigns,
      "/api/relay/instances/7": undefined,
      "/api/conversations": { conversations: [], next: null },
      "/api/tasks": { tasks: [], more: false },
      "/api/heartbeat": { next: [], did: [] },
      "/api/shipped": { shipped: [] },
      "/api/capabilities": { capabilities: [] },
      "/api/capabilities/roman_numeral": undefined,
      "/api/secrets": { secrets: [] },
      "/api/usage": { today: none, days: [], models: [], total: { ...none, tool_calls: { done: 0, failed: 0, unknown: 0, open: 0 } } },
      "/api/approvals": { approvals: [] },
      "/api/search": { found: [] },
      "/api/events": { events: [], next: null },
      "/api/replay/turns/1": { turn: 1, events: [] },
      "/api/rates": { rates: {} },
      "/api/mcp": { servers: [] },
    },
  };
}

/** A server whose lists all fail. */
export function failingWorld(now) {
  return { ...emptyWorld(now), api: {}, failure: "The database does not answer." };
}
