// The full world's heartbeat, and one capability, whole.

const MINUTE = 60_000;
const DAY = 86_400_000;

const PARAMETERS = {
  type: "object",
  required: ["n", "loud"],
  properties: {
    n: { type: "integer", description: "The number to write.", minimum: 1, maximum: 3999 },
    style: { enum: ["classic", "additive"], description: "Which notation.", default: "classic" },
    loud: { type: "boolean" },
    before: { type: "array", items: { type: "string" }, default: ["Anno"] },
    more: { type: "object", description: "Anything else." },
  },
};

/** The answers by path; `at(ms)` is a time from now. */
export function workAnswers(at, entry) {
  const { name, version, description, grants, grants_in_words: words } = entry;
  const whole = { name, version, live: version, state: "installed", description, language: "javascript", grants, grants_in_words: words, sha256: "00", created_at: at(-DAY) };
  return {
    "/api/heartbeat": {
      next: [
        { kind: "task", subject: 2, at: at(60 * MINUTE), title: "Call the plumber about the kitchen" },
        { kind: "approval", subject: 5, at: at(2 * DAY), title: "write_capability" },
        { kind: "kept", subject: 3, at: at(20 * DAY), title: null },
      ],
      did: [{ position: 9, conversation: 1, seq: 4, at: at(-10 * MINUTE), kind: "tasks_fired", turn: 2, said: "The task “Water the plants” fell due.", text: "" }],
    },
    "/api/shipped": { shipped: [{ name: "feed", description: "Reads a feed and gives its newest entries.", grants_in_words: ["Send GET requests to any public host."], installed: null }] },
    [`/api/capabilities/${name}`]: {
      ...whole,
      source: "export default function roman({ n }) {\n  return n === 4 ? 'IV' : '?';\n}\n",
      parameters: PARAMETERS,
      tests: [{ params: { n: 4, loud: false }, expect: "IV" }, { params: { n: 5, loud: true } }],
      versions: [1, 2].map((each) => ({ version: each, created_at: at(-each * DAY), sha256: "00" })),
    },
    [`/api/capabilities/${name}/diff`]: { name, from: 1, to: 2, diff: "--- source of version 1\n+++ source of version 2\n@@ -1 +1 @@\n-let a = 1;\n+let a = 2;\n" },
  };
}
