// The steps of a turn in words: what each does, how many there are of which kind, how long they
// took. Pure.

import { summarize } from "../core/format.js";
import { duration } from "../core/times.js";
import { words } from "../core/words.js";

const KINDS = { execute_sql: "sql", write_capability: "written", manage_tasks: "tasks", restart: "restarts" };
/** Kinds whose words say that it was done. */
const DONE = ["written", "restarts"];
const ORDER = ["sql", "written", "tasks", "restarts", "calls", "notes"];

/** "5 steps · 2 SQL, 1 capability written, 2 calls · 1.2 s". A call that failed and was mended is counted only under its kind. */
export function stepsLine(steps) {
  const counts = new Map();
  const count = (kind) => counts.set(kind, (counts.get(kind) ?? 0) + 1);
  for (const step of steps) count(kindOf(step));
  const kinds = ORDER.filter((kind) => counts.has(kind)).map((kind) => words.steps[kind](counts.get(kind)));
  const marks = ["failed", "unknown"].map((came) => [came, steps.filter((step) => step.came === came).length]);
  for (const [came, number] of marks) if (number > 0) kinds.push(words.steps[came](number));
  const took = steps.reduce((sum, { outcome }) => sum + (outcome?.ms ?? 0), 0);
  const timed = steps.some(({ outcome }) => outcome?.ms !== undefined);
  return [words.steps.count(steps.length), kinds.join(", "), timed ? duration(took) : ""].filter(Boolean).join(" · ");
}

function kindOf({ kind, name, came }) {
  const own = kind === "assistant" ? "notes" : KINDS[name];
  return !own || (DONE.includes(own) && came !== "ok") ? "calls" : own;
}

/** The kind of step, in a word; the name of a capability is its own. */
export function kindWord(step) {
  if (step.kind === "assistant") return words.steps.kinds.said;
  return Object.hasOwn(words.steps.kinds, step.name) ? words.steps.kinds[step.name] : step.name;
}

/** The arguments of a step, on one line. */
export function doing(step) {
  if (step.kind === "assistant") return step.content;
  return step.called ? summarize(step.name, step.args) : words.steps.earlier;
}

/** How it came out, in one sentence for a person. The model's words are never shown here. */
export function saidOf({ name, came, outcome, lost }) {
  if (lost) return words.steps.lost;
  if (!outcome) return "";
  // The line of the approval says who refused it.
  if (came === "denied") return words.steps.denied;
  // Its name stands beside it.
  if (came === "ok" && outcome.version !== undefined && !Object.hasOwn(KINDS, name)) return words.steps.version(outcome.version);
  if (came === "unknown" && !outcome.said) return `${words.steps.unknownTitle}.`;
  return outcome.said ?? "";
}
