// A turn as it stood after one of its events. Pure: the events as they were recorded, and how far
// to look.

const CONTROLLER = "level3";

/** `{ state, ms, requests, input, output, cost, open, done, failed }` after the event at `index`; `cost` is null once a price is not known. */
export function replayed(events, index) {
  const then = { state: "queued", ms: 0, requests: 0, input: 0, output: 0, cost: 0, open: 0, done: 0, failed: 0 };
  for (const event of events.slice(0, index + 1)) APPLY[event.kind]?.(then, event);
  then.ms = Math.max(0, Date.parse(events[index]?.at) - Date.parse(events[0]?.at)) || 0;
  return then;
}

const APPLY = {
  turn_queued: (then) => (then.state = "queued"),
  turn_started: (then) => (then.state = "running"),
  turn_resumed: (then) => (then.state = "queued"),
  turn_ended: (then, { state }) => (then.state = state),
  approval_requested: (then) => (then.state = "awaiting_approval"),
  step_answered: (then, { model, usage, cost_micros: cost }) => {
    if (model !== CONTROLLER) asked(then, usage, cost);
  },
  answer_broken_off: (then, { usage, cost_micros: cost }) => asked(then, usage, cost),
  tool_call_proposed: (then) => (then.open += 1),
  tool_call_ended: (then, { outcome }) => {
    then.open -= 1;
    then[outcome.ok ? "done" : "failed"] += 1;
  },
};

function asked(then, usage, cost) {
  then.requests += 1;
  then.input += usage?.input ?? 0;
  then.output += usage?.output ?? 0;
  then.cost = cost === null || cost === undefined || then.cost === null ? null : then.cost + cost;
}
