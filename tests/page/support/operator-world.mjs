// The operator as its place meets it: tasks in each state, and what it remembers.

const MINUTE = 60_000;

const task = (at, id, state, goal, more = {}) => ({ id, state, goal, from: "+49•••••••••67", created_at: at(-id * MINUTE), ...more });

/** What the server answers about it. */
export function operatorAnswers(at) {
  return {
    "/api/operator": {
      conversation: 31,
      channel: "loopback",
      numbers: 1,
      tasks: [
        task(at, 5, "QUEUED", "And then tidy up the downloads"),
        task(at, 4, "AWAITING_CONFIRMATION", "Let the script triple", { approval: 5 }),
        task(at, 3, "COMPLETED", "Show me the screen", { answer: "Sent.", ended_at: at(-MINUTE) }),
        task(at, 2, "ABORTED", "Delete everything", { reason: "You said no to `execute_script`, so the task is aborted.", ended_at: at(-MINUTE) }),
        task(at, 1, "COMPLETED", "Which scripts are there?", { from: undefined, answer: "There is one: double.", ended_at: at(-MINUTE) }),
      ],
    },
    "/api/operator/context": { version: 3, document: { project: "shop", done: ["prices"] }, bytes: 36, most_bytes: 8192, updated_at: at(-MINUTE) },
  };
}

/** One that never had an order. */
export const noOperator = {
  "/api/operator": { conversation: 31, numbers: 0, tasks: [] },
  "/api/operator/context": { version: 0, document: {}, bytes: 2, most_bytes: 8192 },
};
