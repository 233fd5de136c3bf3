// A server whose main conversation a test writes, frame by frame, as `docs/protocol.md` has them.

import { pageOf, serveScreens } from "./screens-server.mjs";
import { emptyWorld } from "./worlds.mjs";

export { pageOf };

const NOW = Date.now();

/** Gives frames their places in conversation 1. */
export const numbered = (frames) => frames.map((frame, index) => ({ ...frame, conversation: 1, seq: index + 1, at: new Date(NOW - 60_000).toISOString() }));

/** The frames of a turn: what was said, steps if there are some, and the answer. */
export function turnFrames(turn, said, answer, steps = []) {
  const usage = { requests: 1, input_tokens: 900, output_tokens: 80, cost_micros: null };
  return [
    { type: "turn", turn, state: "queued", origin: "message", content: said },
    { type: "turn", turn, state: "running" },
    ...steps,
    { type: "assistant", content: answer, turn, step: 9, final: true },
    { type: "turn", turn, state: "completed", usage, ms: 1200 },
  ];
}

/** A call and its result. */
export function callFrames(turn, call, { name = "execute_sql", args = { query: `SELECT ${call}` }, result = "[]", said = "It gave 0 rows.", ...more } = {}) {
  return [
    { type: "tool_call", name, arguments: args, call, turn },
    { type: "tool_result", name, result, said, ok: true, call, turn, ms: 4, ...more },
  ];
}

/**
 * Starts it with these frames. `record(frame)` writes one and tells every page; `heard` is what pages said. A message is acknowledged under
 * its id, once; said again, it gets the same answer. `change` is as `serveScreens` has it; `more` is what else the world has.
 */
export async function serveTalk(frames = [], { api = {}, answers = true, change, ...more } = {}) {
  const empty = emptyWorld(NOW);
  const world = { ...empty, model: { kind: "configured", provider: "ollama", name: "llama3" }, frames: numbered(frames), down: false, ...more };
  world.api = { ...empty.api, "/api/conversations/1/frames": ({ search }) => pageOf(world.frames, search), ...api };
  const heard = [];
  const accepted = new Map();
  let turn = Math.max(0, ...frames.map((frame) => frame.turn ?? 0));
  world.heard = (frame, say) => {
    heard.push(frame);
    if (frame.type !== "message" || !answers) return;
    if (accepted.has(frame.id)) say(accepted.get(frame.id));
    else accepted.set(frame.id, server.record({ type: "turn", turn: (turn += 1), state: "queued", origin: "message", content: frame.content, id: frame.id }));
  };
  const screens = await serveScreens(world, change);
  const server = {
    ...screens,
    world,
    heard,
    messages: () => heard.filter(({ type }) => type === "message"),
    record(frame) {
      const whole = { ...frame, conversation: 1, seq: world.frames.length + 1, at: new Date().toISOString() };
      world.frames.push(whole);
      screens.say(whole);
      return whole;
    },
    /** A piece of text, which is not recorded. */
    delta: (turn, content, more = {}) => screens.say({ type: "delta", conversation: 1, turn, step: 1, attempt: 1, content, ...more }),
  };
  return server;
}
