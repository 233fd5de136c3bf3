// All that follows from what the server says of a campaign. Pure.

import { readJson } from "../core/json.js";

/** The ways in which a person may steer a campaign now. */
export const steps = ({ status }) => [...({ initializing: ["start"], active: ["pause"], paused: ["resume", "cycle"] }[status] ?? []), "copy"];

/** Why it stands still, in the server's words; undefined if it does not say. Its `fault` is said to the model, and stands with the cycles. */
export const whyOf = ({ reason, waits_for: waits }) => [reason, waits].filter(Boolean).join(" · ") || undefined;

/** True if nothing changes in it any more. */
export const isOver = ({ status }) => status === "completed" || status === "error";

/** A refused file: the sentence on the whole, and what is wrong by line, if that is how it was said. */
export function badLines(message) {
  const [, about, rest] = /^([^\n]*?)\.? (line \d+: .*)$/s.exec(message) ?? [];
  return rest === undefined ? { about: message, lines: [] } : { about: `${about}.`, lines: rest.split(/; (?=line \d+: )/) };
}

/**
 * The tasks of what a person wrote: JSON (an array, an object with `tasks`, or one task), else one description a line. Throws a `SyntaxError`
 * for JSON that is none.
 */
export function tasksOf(text) {
  const written = text.trim();
  if (/^[[{]/.test(written)) {
    const read = readJson(written);
    return [read.tasks ?? read].flat();
  }
  const lines = written.split("\n").map((line) => line.replace(/^\s*[-*]\s+/, "").trim());
  return lines.filter(Boolean).map((description) => ({ description }));
}

/** A required effect in words: `effects` are those of each kind. One that a newer server knows stands as it is. */
export function effectWords(effects, { kind, ...fields }) {
  if (Object.hasOwn(effects, kind)) return effects[kind](fields);
  return [kind, ...Object.entries(fields).map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`)].join(", ");
}

/** An address that a link may lead to; undefined for any other. */
export const safeAddress = (text) => (/^https?:\/\//i.test(text) ? text : undefined);

/** The cycles, the newest first, of both logs: each with its requests, what was refused, its proposal, verdict, effect and end. */
export function cyclesOf(events, audit) {
  const cycles = new Map();
  const of = (turn) => {
    if (!cycles.has(turn)) cycles.set(turn, { turn, requests: 0, refused: [], calls: [], evidence: [] });
    return cycles.get(turn);
  };
  for (const { timestamp, kind, payload } of events) {
    if (kind === "cycle_asked") {
      const cycle = of(payload.turn);
      cycle.at ??= timestamp;
      cycle.requests += 1;
      cycle.state = payload.state_sha256;
    } else if (kind === "proposal_refused") of(payload.turn).refused.push(payload.why);
    else if (kind === "campaign_task_changed" && payload.task?.status === "done" && cycles.size > 0) evidence([...cycles.values()].at(-1), payload.task);
    else if (kind === "cycle_ended") {
      const { turn, proposal, came, next } = payload;
      Object.assign(of(turn), { at: of(turn).at ?? timestamp, ended: timestamp, proposal, came, next });
    }
  }
  for (const { payload } of audit) if (payload.call !== undefined && cycles.has(payload.turn)) of(payload.turn).calls.push(payload);
  return [...cycles.values()].reverse();
}

/** The arguments of a proposal, one in a line as they are; what is no JSON stands as it was written. */
export function argumentLines(written = "") {
  try {
    const lines = Object.entries(readJson(written)).map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
    return lines.join("\n");
  } catch {
    return written;
  }
}

function evidence(cycle, { id, metadata }) {
  for (const { effect, events = [], calls = [] } of metadata?.evidence ?? []) cycle.evidence.push({ task: id, effect, events, calls });
}

/** The score from which the rules of a breakdown began. */
export const baseOf = ({ points, sum }) => points.reduce((rest, { weight }) => rest - weight, sum);
