// The operator as its place meets it: tasks in each state, and what it remembers.

const MINUTE = 60_000;

const task = (at, id, state, goal, more = {}) => ({ id, state, goal, from: "+49•••••••••67", created_at: at(-id * MINUTE), ...more });

const SHA = "5a".repeat(32);
/** A picture of one point. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The events of task 3: an action that was harmless, one that was asked for and recorded, and one whose end nobody knows. */
export function courseEvents(at) {
  const low = { complexity: "low", risk: "low", impact: "local", requires_confirmation: false };
  const event = (sequence, kind, fields) => ({ sequence, at: at(-sequence * 1000), kind, turn: 3, said: kind, ...fields });
  const proposed = (sequence, step, call, name, args) => event(sequence, "tool_call_proposed", { step, call, request: { id: "a", name, arguments: JSON.stringify(args) }, position: 0 });
  const ended = (sequence, call, name, outcome, verdict) => event(sequence, "tool_call_ended", { call, name, outcome, verdict, said: `${name} has ended.` });
  return [
    event(1, "turn_queued", { message: 6, origin: "message", content: `Show me the screen\n[a file came with it: image/png, 3 bytes, kept as media/${SHA}]` }),
    event(2, "step_answered", { step: 1, number: 1, model: "m", finish_reason: "tool_calls", content: "First I look <img src=x onerror=alert(1)>", last: false }),
    proposed(3, 1, 11, "take_screenshot", { caption: "Your screen." }),
    event(4, "proposal_classified", { call: 11, classification: low, answered: true }),
    ended(5, 11, "take_screenshot", { ok: true, result: JSON.stringify({ media: `media/${"6b".repeat(32)}`, bytes: 9, delivery: "on its way to the person" }), account: { ms: 40 } }, "allow"),
    event(6, "step_answered", { step: 2, number: 2, model: "m", finish_reason: "tool_calls", content: "", last: false }),
    proposed(7, 2, 12, "execute_script", { name: "double", arguments: { n: 2, evil: "\u202egnp.exe" } }),
    event(8, "proposal_classified", { call: 12, classification: { ...low, risk: "high", complexity: "high", requires_confirmation: true }, answered: false }),
    event(9, "approval_requested", { call: 12, approval: 5, shown: { what: ["Runs the script double."], why: "complexity is high" }, expires_at: at(60_000) }),
    event(10, "approval_decided", { call: 12, approval: 5, state: "approved", channel: "page", reason: null }),
    event(11, "operation_recorded", { call: 12, ordinal: 0, power: "kv", state: "done", request: { do: "set", key: "word" } }),
    ended(12, 12, "execute_script", { ok: true, result: "4", account: { ms: 7, uncertain: true } }, "ask"),
    event(13, "step_answered", { step: 3, number: 3, model: "m", finish_reason: "stop", content: "Sent.", last: true }),
    event(14, "turn_ended", { state: "completed", reason: null }),
  ];
}

const recordings = (at) => [
  { call: 12, name: "execute_script", state: "done", arguments: '{"name":"double"}', result: "4", logs: ["doubled <b>"], operations: [{ kind: "kv", state: "done" }], pictures: ["before", "after"], proposed_at: at(-5000), ended_at: at(-4000) },
];

/** What the server answers about it. */
export function operatorAnswers(at) {
  return {
    "/api/operator": {
      conversation: 31,
      channel: "loopback",
      numbers: 1,
      tasks: [
        task(at, 5, "QUEUED", "And then tidy up the downloads"),
        task(at, 4, "AWAITING_CONFIRMATION", "Let the script triple", { approval: 5, undelivered: [{ about: "question", state: "unknown", reason: "the program of the channel ended" }] }),
        task(at, 3, "COMPLETED", "Show me the screen", { answer: "Sent.", ended_at: at(-MINUTE) }),
        task(at, 2, "ABORTED", "Delete everything", { reason: "You said no to `execute_script`, so the task is aborted.", ended_at: at(-MINUTE) }),
        task(at, 1, "COMPLETED", "Which scripts are there?", { from: undefined, answer: "There is one: double\u202e.", unproven: true, ended_at: at(-MINUTE) }),
      ],
    },
    "/api/replay/turns/3": { turn: 3, events: courseEvents(at) },
    "/api/operator/tasks/3/recordings": { recordings: recordings(at) },
    [`/api/operator/media/${SHA}`]: { png: PNG },
    [`/api/operator/media/${"6b".repeat(32)}`]: undefined,
    "/api/operator/tasks/3/recordings/12/before": { png: PNG },
    "/api/operator/tasks/3/recordings/12/after": { png: PNG },
    "/api/operator/context": { version: 3, document: { project: "shop", done: ["prices"] }, bytes: 36, most_bytes: 8192, updated_at: at(-MINUTE) },
  };
}

/** One that never had an order. */
export const noOperator = {
  "/api/operator": { conversation: 31, numbers: 0, tasks: [] },
  "/api/operator/context": { version: 0, document: {}, bytes: 2, most_bytes: 8192 },
};
