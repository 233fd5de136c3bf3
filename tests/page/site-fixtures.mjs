// The server's answers for Approvals, Activity and Settings, for `site-harness.mjs`. `text` stands
// wherever words come from outside.

const AT = "2026-11-22T08:00:00Z";

export const shown = (text) => ({
  tool: text,
  arguments: { query: text },
  what: [`Runs ${text}`],
  why: text,
  can_always: false,
  words: { approve: ["CONFIRM"], deny: ["no"] },
});

const approval = (id, conversation, text, fields = {}) => ({ id, conversation, state: "pending", shown: shown(text), expires_at: "2030-01-01T00:00:00Z", ...fields });

export const approvals = (text) => [
  approval(8, 7, text),
  approval(6, 7, text),
  approval(5, 7, text, { state: "denied", channel: "words", reason: text, decided_at: AT }),
  approval(4, 7, text, { state: "approved", channel: "page", decided_at: AT }),
];

export const turn = (text) => [
  { kind: "turn_queued", turn: 3, origin: "message", content: text },
  { kind: "turn_started", turn: 3, fence: 1 },
  { kind: "step_answered", turn: 3, model: text, finish_reason: "tool_calls", content: text, last: false, usage: { input: 9, output: 1 }, cost_micros: 2 },
  { kind: "tool_call_proposed", turn: 3, call: 1, request: { name: text, arguments: JSON.stringify({ a: text, code: `${text}\n${text}`, deep: [text] }) } },
  { kind: "approval_requested", turn: 3, call: 1, approval: 8, shown: shown(text) },
  { kind: "approval_decided", turn: 3, call: 1, approval: 8, state: "approved", channel: "page", reason: text },
  { kind: "turn_resumed", turn: 3, content: text },
  { kind: "operation_recorded", turn: 3, call: 1, ordinal: 1, power: text, state: "unknown", request: { url: text } },
  { kind: "tool_call_ended", turn: 3, call: 1, name: text, outcome: { ok: true, result: text, logs: [text] } },
  { kind: "task_changed", task: { title: text, status: "pending" }, deleted: false },
  { kind: "capability_installed", name: text, version: 2 },
  { kind: "step_answered", turn: 3, model: "level3", finish_reason: "limit", content: `${text} \`turn.steps\``, last: true },
  { kind: "turn_ended", turn: 3, state: "failed", reason: text },
];

export const replay = (text) => ({ turn: 3, profile: "lea", events: turn(text).map((event, index) => ({ sequence: index + 1, at: AT, said: event.kind === "tool_call_ended" ? text : "", ...event })) });

/** The message came in the conversation of an instance of Relay. */
export const events = (text, next) => ({
  events: turn(text).map((event, index) => ({ position: index, conversation: 7, profile: "lea", seq: index, at: AT, kind: event.kind, turn: event.turn ?? null, said: event.kind === "tool_call_ended" ? text : "", text, event, ...(event.kind === "turn_queued" && { conversation: 9, profile: "contact", instance: 4 }) })),
  next,
});

const span = (requests, cost) => ({ requests, input_tokens: 900, output_tokens: 80, cost_micros: cost, tool_calls: { done: 2, failed: 1, open: 0 } });
export const usage = (text) => ({
  today: span(4, null),
  days: [{ day: "2026-11-22", ...span(4, null) }, { day: "2026-11-21", ...span(8, 10) }],
  models: [{ model: text, ...span(12, null), p50_ms: 1840 }],
  total: span(12, null),
});

const none = { steps: null, input_tokens: null, output_tokens: null, money_micros: null, tool_calls: null };
export const policy = (profile, text) => ({
  profile,
  mode: "smart",
  governor: false,
  models: [text],
  rules: { restart: "never" },
  budgets: {
    turn: { ...none, wall_seconds: 1800, tokens: profile === "operator" ? 50_000 : null },
    conversation: none,
    day: { ...none, input_tokens: 1000, output_tokens: 80, money_micros: 2_500_000 },
    tasks: { turns_per_hour: 30, percent_of_day: 50 },
  },
});

/** Settings that only the environment sets. */
const ELSEWHERE = ["LEVEL3_DATA_DIR", "LEVEL3_TOKEN"];
const setting = (name, value, origin, fields = {}) => ({ name, value, origin, on_page: !ELSEWHERE.includes(name), can_change: origin !== "environment" && origin !== "dot_env", waits: false, next: null, ...fields });
export const settings = (text) => [
  setting("LEVEL3_DATA_DIR", text, "dot_env"),
  setting("LEVEL3_TOKEN", null, "environment"),
  setting("LLM_PROVIDER", null, "default"),
  setting("LLM_MODEL", null, "default"),
  setting("LLM_FALLBACK", text, "environment"),
  setting("HEARTBEAT_INTERVAL", "300", "page", { waits: true, next: "60" }),
  setting("MAX_TOOL_ITERATIONS", null, "default"),
  setting("APPROVAL_EXPIRY", null, "default"),
];

export const models = (text) => ({
  current: { kind: "configured", provider: text, name: text },
  images: true,
  context_tokens: 8192,
  providers: [
    { provider: "ollama", state: "ready", address: text, why: "", models: [text, "qwen3"], in_use: [text], fallbacks: [] },
    { provider: "groq", state: "refused", address: "", why: text, models: [], in_use: [], fallbacks: [] },
  ],
  problem: text,
});
export const tested = (text) => ({ model: text, ok: false, said: text, ms: 2345, checks: [{ what: text, state: "failed", said: text }] });
export const servers = (text) => [{ name: text, transport: { url: text, headers: {} }, tools: 1, created_at: AT }];
export const tools = (text) => ({ name: text, tools: [{ tool: text, name: text, description: text }], changed: [text], left_out: { [text]: text } });
export const secrets = (text) => [{ name: text, created_at: AT, updated_at: AT, used_by: [text], readable: false }];

/** A user, as the owner sees them. */
export const user = (text) => ({
  ...{ id: 2, name: text, display_name: text, role: text, tier: text, time_zone: text, password: true, disabled_at: text, created_at: text },
  ...{ conversations: 1, open_tasks: 2, tokens: 1, used: { requests: 3 } },
});
