// Stands in for the server beside Lea and Law: a small world of to-dos in which functions are
// carried out, questions wait, and messages count. In the shapes of `docs/api.md` and
// `docs/protocol.md`.

import { serveScreens } from "./screens-server.mjs";
import { siteAnswers } from "./site-world.mjs";
import { emptyWorld } from "./worlds.mjs";

const LEA = 21;
const MINUTE = 60_000;
const IDLE = { state: "idle", minutes: null, task: null, ends_at: null, left_ms: null };

/** The answers about users and tiers, for the owner or another one. */
export function peopleAnswers(now, role = "owner") {
  const at = (later) => new Date(now + later).toISOString();
  const user = (id, name, more = {}) => ({
    ...{ id, name, display_name: name, role: "member", tier: "free", time_zone: "Europe/Lisbon", password: true, disabled_at: null, created_at: at(-MINUTE) },
    ...more,
  });
  const owner = user(1, "owner", { role: "owner", tier: "paid" });
  const bea = user(2, "bea", { display_name: "Beatriz" });
  const numbers = { conversations: 2, open_tasks: 4, tokens: 0, used: { requests: 31, input_tokens: 9000, output_tokens: 800, cost_micros: null } };
  return {
    "/api/me": { ...(role === "owner" ? owner : bea), signed_in: true },
    "/api/me/sessions": {
      sessions: [
        { id: 1, client: "Firefox on Linux", created_at: at(-MINUTE), used_at: at(-MINUTE), expires_at: at(MINUTE), current: true },
        { id: 2, client: "Safari on iPhone", created_at: at(-MINUTE), used_at: at(-MINUTE), expires_at: at(MINUTE), current: false },
      ],
    },
    "/api/users": {
      users: [
        { ...owner, ...numbers },
        { ...bea, ...numbers, tokens: 1 },
        { ...user(3, "carl", { password: false, disabled_at: at(0) }), ...numbers },
      ],
    },
    "/api/tiers": { tiers: [{ tier: "free", messages_per_day: 100, voice_minutes_per_month: 0 }, { tier: "paid", messages_per_day: 500, voice_minutes_per_month: 60 }] },
  };
}

/** The answer of `GET /api/assistant`. */
export const assistantAnswer = (now, more = {}) => ({
  ...{ conversations: { lea: LEA }, timer: IDLE, timed: null },
  allowances: { tier: "free", messages_left: 97, next_day_at: new Date(now + 600 * MINUTE).toISOString(), voice: false },
  ...more,
});

/** Tasks with steps, as the store has them. */
export function someTodos(now) {
  const at = (later) => new Date(now + later).toISOString();
  const step = (id, title, completed) => ({ id, title, completed });
  const task = (id, title, more = {}) => ({ id, title, details: "", status: "pending", due_at: null, conversation: LEA, created_at: at(0), updated_at: at(0), ...more });
  return [
    task(3, "Prepare the dinner party", { subtasks: [step(7, "Invite everyone", true), step(8, "Shop for food", false), step(9, "Cook", false)], remind_at: at(90 * MINUTE) }),
    task(4, "Buy milk", { recurrence: { rule: "weekly", zone: "Europe/Lisbon", start: at(0), date: at(0) } }),
    task(5, "Call the plumber", { due_at: at(60 * MINUTE) }),
    task(6, "Pay the rent", { status: "done" }),
  ];
}

/**
 * Starts it: `{ …serveScreens, world, heard, asked, record(frame), todos, assistant }`. `role` is of who looks at it; without `made` nobody
 * talked to Lea yet.
 */
export async function serveTodos({ now = Date.now(), role = "owner", todos = someTodos(now), left = 97, made = true, change, ...more } = {}) {
  const empty = emptyWorld(now);
  const isMember = role === "member";
  const main = isMember ? LEA : 1;
  const frames = [];
  const heard = [];
  const asked = [];
  const turns = new Map();
  const waits = new Map();
  const assistant = assistantAnswer(now, made || isMember ? {} : { conversations: {} });
  assistant.allowances.messages_left = left;
  let last = 0;
  const numbers = { approval: 50, task: 30 };

  const record = (frame, conversation = LEA) => {
    const whole = { ...frame, conversation, seq: frames.filter((each) => each.conversation === conversation).length + 1, at: new Date().toISOString() };
    frames.push(whole);
    server.say(whole);
    return whole;
  };
  const find = (name) => todos.find(({ id }) => `#${id}` === name);
  const tell = (task, deleted = false) => record({ type: "task", task: { ...task, updated_at: new Date(Date.now() + (last += 1)).toISOString() }, deleted });
  const timer = (next, timed = null) => {
    Object.assign(assistant, { timer: next, timed });
    record({ type: "timer", timer: next, over: false, content: `The timer is ${next.state}.` });
  };

  /** Each function: what it says, or `undefined` if it did nothing. */
  const work = {
    createTask({ description }) {
      const task = { ...someTodos(now)[1], id: (numbers.task += 1), title: description, recurrence: undefined, subtasks: [{ id: numbers.task * 10, title: "First step", completed: false }] };
      todos.push(task);
      tell(task);
      return `Created the task “${description}” with 1 subtask: First step.`;
    },
    deleteTask({ taskName }) {
      const task = find(taskName);
      todos.splice(todos.indexOf(task), 1);
      tell(task, true);
      return `Deleted the task “${task.title}”.`;
    },
    clearCompletedTasks() {
      for (const task of todos.filter(({ status }) => status === "done")) work.deleteTask({ taskName: `#${task.id}` });
      return "Deleted 1 completed task.";
    },
    completeTask({ taskName }) {
      const task = find(taskName);
      const open = (task.subtasks ?? []).filter(({ completed }) => !completed);
      if (open.length > 0) throw new Error(`“${task.title}” still has ${open.length} open subtasks: ${open.map(({ title }) => title).join(", ")}.`);
      tell(Object.assign(task, { status: "done" }));
      return `Completed “${task.title}”.`;
    },
    completeSubtask({ taskName, subtaskName }) {
      const task = find(taskName);
      task.subtasks = task.subtasks.map((step) => (`#${step.id}` === subtaskName ? { ...step, completed: true } : step));
      tell(task);
      return `Completed a step of “${task.title}”.`;
    },
    renameTask({ taskName, newName }) {
      if (newName.trim() === "") throw new Error("A title needs at least one character.");
      tell(Object.assign(find(taskName), { title: newName }));
      return `Renamed it to “${newName}”.`;
    },
    addSubtask({ taskName, subtaskName }) {
      const task = find(taskName);
      task.subtasks = [...(task.subtasks ?? []), { id: (numbers.task += 1) * 10, title: subtaskName, completed: false }];
      tell(task);
      return `Added the subtask “${subtaskName}” to “${task.title}”.`;
    },
    setReminder({ taskName, at }) {
      tell(Object.assign(find(taskName), { remind_at: at }));
      return "The reminder is set.";
    },
    setRecurrence({ taskName, rule }) {
      const recurrence = rule === "none" ? undefined : { rule, zone: "Europe/Lisbon", start: new Date(now).toISOString(), date: new Date(now).toISOString() };
      tell(Object.assign(find(taskName), { recurrence }));
      return "The rule is set.";
    },
    startTimer({ minutes, taskName }) {
      const task = find(taskName);
      timer({ state: "running", minutes, task: task?.id ?? null, ends_at: new Date(Date.now() + minutes * MINUTE).toISOString(), left_ms: null }, task?.title ?? null);
      return `The timer runs for ${minutes} minutes.`;
    },
    pauseTimer() {
      timer({ ...assistant.timer, state: "paused", ends_at: null, left_ms: Date.parse(assistant.timer.ends_at) - Date.now() }, assistant.timed);
      return "The timer is paused.";
    },
    resumeTimer() {
      timer({ ...assistant.timer, state: "running", ends_at: new Date(Date.now() + assistant.timer.left_ms).toISOString(), left_ms: null }, assistant.timed);
      return "The timer goes on.";
    },
    stopTimer() {
      timer(IDLE);
      return "The timer is stopped.";
    },
  };
  const QUESTIONS = {
    createTask: ({ description }) => [`Should I create a task called “${description}”?`, { title: description }],
    deleteTask: ({ taskName }) => [`Should I delete the task “${find(taskName).title}”${find(taskName).subtasks?.length ? ` with ${find(taskName).subtasks.length} subtasks` : ""}?`, { id: find(taskName).id }],
    clearCompletedTasks: () => ["Should I delete 1 completed task?", { tasks: todos.filter(({ status }) => status === "done").map(({ id }) => id), subtasks: 0 }],
  };

  function carryOut(turn, name, args, answer) {
    let result = { ok: true };
    try {
      result.said = work[name](args);
    } catch (error) {
      result = { ok: false, said: error.message };
    }
    record({ type: "tool_result", name, result: "{}", call: turn, turn, ms: 3, ...result });
    // Of an order the program says what came of it, in the place of a model.
    record({ type: "assistant", content: answer ?? result.said, turn, step: 2, final: true });
    record({ type: "turn", turn, state: "completed" });
    turns.set(turn, { state: "completed", approval: null, results: [{ ok: result.ok }] });
  }

  /** A call in a turn: carried out, or a question first. */
  function call(turn, name, args, answer) {
    record({ type: "tool_call", name, arguments: args, call: turn, turn });
    const [question, target] = QUESTIONS[name]?.(args) ?? [];
    if (!question) {
      carryOut(turn, name, args, answer);
      return;
    }
    const id = (numbers.approval += 1);
    waits.set(id, { turn, name, args, answer });
    turns.set(turn, { state: "awaiting_approval", approval: id, results: [] });
    const words = { approve: ["yes", "do it", "confirm", "approve"], deny: ["no", "cancel", "deny"], fillers: ["please"], others_decline: true };
    record({ type: "approval", id, state: "pending", call: turn, turn, tool: name, arguments: { ...args, target }, what: [question], question, why: "", can_always: false, words, expires_at: new Date(Date.now() + 15 * MINUTE).toISOString() });
  }

  function decide(id, approved, channel) {
    const { turn, name, args, answer } = waits.get(id);
    waits.delete(id);
    record({ type: "approval", id, state: approved ? "approved" : "denied", call: turn, turn, channel, decided_at: new Date().toISOString() });
    if (approved) carryOut(turn, name, args, answer && "Got it. ✓");
    else {
      record({ type: "tool_result", name, result: "The user refused.", ok: false, said: "It was not allowed, so nothing was done.", refusal: "denied", call: turn, turn });
      record({ type: "turn", turn, state: "completed" });
      turns.set(turn, { state: "completed", approval: null, results: [{ ok: false }] });
    }
  }

  function said({ id, content }) {
    if (assistant.allowances.messages_left === 0) {
      server.say({ type: "error", id, content: "You've reached your daily message limit. Upgrade for more!", upgrade: true });
      return;
    }
    const [waiting] = waits.keys();
    if (waiting && /^(yes|no)\b/i.test(content)) {
      record({ type: "turn", turn: waits.get(waiting).turn, state: "queued", id, content });
      decide(waiting, /^yes/i.test(content), "words");
      return;
    }
    const turn = (last += 1);
    record({ type: "turn", turn, state: "queued", origin: "message", content, id });
    record({ type: "turn", turn, state: "running" });
    assistant.allowances.messages_left -= 1;
    const [, title] = /^add (.*)/.exec(content) ?? [];
    if (title) call(turn, "createTask", { description: title, confirmed: true }, "Got it. ✓");
    else if (content !== "wait") {
      record({ type: "assistant", content: "Nice progress.", turn, step: 1, final: true });
      record({ type: "turn", turn, state: "completed" });
    }
  }

  function order(name, args) {
    const turn = (last += 1);
    turns.set(turn, { state: "running", approval: null, results: [] });
    record({ type: "turn", turn, state: "queued", origin: "command", content: `${name} ${Object.values(args).join(", ")}` });
    // The answer to the order comes before the order is carried out.
    setTimeout(() => call(turn, name, args));
    return { turn, conversation: LEA };
  }

  const pages = {
    "/api/conversations/21/frames": () => ({ frames: frames.filter(({ conversation }) => conversation === LEA), before: null, from: null }),
    "/api/assistant": () => assistant,
    "/api/tasks": () => ({ tasks: todos, more: false }),
    "DELETE /api/assistant/chat": () => {
      assistant.conversations = { lea: LEA };
      record({ type: "anew", after: last });
      return { messages: [] };
    },
    "PATCH /api/tasks": (id, body) => {
      const turn = (last += 1);
      const task = todos.find((each) => each.id === Number(id));
      tell(Object.assign(task, body));
      turns.set(turn, { state: "completed", approval: null, results: [{ ok: true }] });
      return { turn, conversation: LEA };
    },
  };
  const api = new Proxy(
    { ...empty.api, ...siteAnswers(), ...peopleAnswers(now, role), ...more.api },
    {
      get(all, key) {
        const [path, method] = key.includes(" ") ? key.split(" ").toReversed() : [key];
        if (method) asked.push(key);
        const name = /^\/api\/assistant\/functions\/(\w+)$/.exec(path)?.[1];
        if (name && method === "POST") return ({ body }) => order(name, body);
        const turn = /^\/api\/turns\/(\d+)$/.exec(path)?.[1];
        if (turn && !method) return () => turnReport(Number(turn));
        const task = /^\/api\/tasks\/(\d+)$/.exec(path)?.[1];
        if (task && method === "PATCH") return ({ body }) => pages["PATCH /api/tasks"](task, body);
        return pages[key] ?? all[key];
      },
    },
  );
  const turnReport = async (turn) => {
    for (let tries = 0; tries < 100 && turns.get(turn).state === "running"; tries += 1) await new Promise((resolve) => setTimeout(resolve, 5));
    return { turn, conversation: LEA, ...turns.get(turn) };
  };
  const model = { kind: "configured", provider: "groq", name: "llama-3.3" };
  const conversations = isMember ? { lea: LEA } : { builder: 1, ...(made && { lea: LEA }) };
  const world = { ...empty, model, frames, api, down: false, hello: { conversation: main, conversations, last_seq: 0 }, ...more.world };
  world.heard = (frame) => {
    heard.push(frame);
    if (frame.type === "message") said(frame);
    if (frame.type === "approve" || frame.type === "deny") decide(frame.approval, frame.type === "approve", "page");
  };
  const screens = await serveScreens(world, change);
  const server = { ...screens, world, heard, asked, record, todos, assistant };
  return server;
}
