// The course of a task, from the events of its turn: each action that the planner proposed, what
// the governor and the person said of it, and what came of it. Pure.

import { operationLine, summarize } from "../core/format.js";
import { readJson } from "../core/json.js";
import { oneLine } from "../core/text.js";

/** So much of a text stands in a line. */
const MOST = 400;
/** A file that is kept, as orders and results name it. */
const KEPT = /\bmedia\/([0-9a-f]{64})\b/g;

/**
 * `{ orders, steps, answer, unproven, media, end }`: the words of the person, the actions in their order (`{ call, at, reasoning, name, text, verdict, isRead,
 * asked, decided, law, operations, outcome }`), the last words and if nothing recorded shows them, the fingerprints of the files that are named, and how it ended.
 */
export function courseOf(events) {
  const course = { orders: [], steps: [], answer: undefined, unproven: undefined, media: [], end: undefined };
  const said = new Map();
  const step = (call) => course.steps.find((each) => each.call === call) ?? {};
  for (const event of events) READ[event.kind]?.(event, { course, said, step });
  course.media = [...new Set([...course.orders, ...course.steps.map(({ outcome }) => outcome?.result ?? "")].flatMap((text) => [...text.matchAll(KEPT)].map(([, name]) => name)))];
  return course;
}

const READ = {
  turn_queued: ({ origin, content }, { course }) => origin === "message" && content && course.orders.push(content),
  turn_resumed: ({ content }, { course }) => content && course.orders.push(content),
  turn_steered: ({ content }, { course }) => course.orders.push(content),
  step_answered: ({ step, content, last, unproven, note }, { course, said }) => {
    if (last) Object.assign(course, { answer: note ? `${content}\n\n${note}` : content, unproven });
    // The reasoning belongs to the actions that the answer asked for.
    else said.set(step, content);
  },
  tool_call_proposed: ({ at, step, call, request: { name, arguments: args } }, { course, said }) => {
    course.steps.push({ call, at, reasoning: oneLine(said.get(step) ?? "", MOST), name, text: summarize(name, read(args)), operations: [] });
    said.delete(step);
  },
  proposal_classified: ({ call, classification, answered }, { step }) => Object.assign(step(call), { verdict: classification, isRead: answered }),
  approval_requested: ({ call, shown, expires_at: until }, { step }) => Object.assign(step(call), { asked: { what: shown?.what ?? [], why: shown?.why, until } }),
  approval_decided: ({ call, state, channel, reason }, { step }) => Object.assign(step(call), { decided: { state, channel, reason } }),
  operation_recorded: ({ call, power, state, request }, { step }) => step(call).operations?.push({ state, text: request ? `${power} ${operationLine({ power, request })}` : power }),
  tool_call_ended: ({ call, verdict, outcome: { ok, result, account }, said: told }, { step }) =>
    Object.assign(step(call), { law: verdict, outcome: { state: account?.uncertain ? "unknown" : ok ? "done" : "failed", told, result, ms: account?.ms } }),
  turn_ended: ({ state, reason }, { course }) => (course.end = { state, reason }),
};

function read(text) {
  try {
    return readJson(text);
  } catch {
    return text;
  }
}
