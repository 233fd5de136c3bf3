// The row of one recorded item. Pure.

import { approvalRow } from "../core/approvals.js";
import { hasEnded } from "../core/state-parts.js";

/** True for a turn that waits until another one is over. */
export const isBehind = (turn, active) => turn?.state === "queued" && active !== undefined && active.turn !== turn;

const made = new WeakMap();

/** The row of an item: the same object as long as nothing in it has changed, so that a long conversation costs little. */
export function rowOf(item, turn, context) {
  const { state, active, waits, again } = context;
  const call = item.kind === "tool" ? Number(item.key.slice("call:".length)) : undefined;
  const marks = [turn, isBehind(turn, active), again.has(item)];
  if (item.kind === "approval") marks.push(state.connection.status);
  if (item.kind === "due") marks.push(state.fired.get(item.turn));
  if (call !== undefined) marks.push(state.operations.get(call), state.classified.get(call), state.undone.get(call), waits.has(call));
  const known = made.get(item);
  if (known?.marks.every((mark, index) => mark === marks[index])) return known.row;
  const row = newRow(item, turn, context);
  made.set(item, { marks, row });
  return row;
}

function newRow(item, turn, context) {
  const { state, active, again } = context;
  const { key, kind } = item;
  switch (kind) {
    case "user": {
      const waits = isBehind(turn, active);
      const unseen = item.steered === true && item.shownAt === undefined;
      const status = unseen ? (hasEnded(turn) ? "unseen" : "steering") : waits ? "queued" : undefined;
      const steered = item.steered === true;
      const { content, images } = item;
      // One that was recorded twice keeps both.
      return { key: item.clientId && !again.has(item) ? `said:${item.clientId}` : key, kind, content, status, images, steered };
    }
    case "assistant": {
      const textKey = item.streamKey ? `text:${item.streamKey}` : key;
      const { content, final, unproven, stopped } = item;
      return { key: textKey, kind, content, final, unproven, streaming: false, partial: false, stopped };
    }
    case "tool":
      return toolRow(item, turn, context);
    case "approval":
      return approvalRow(item, turn, state);
    case "end":
      return { key, kind, state: item.state, content: item.content };
    case "capability":
      return { key, kind, name: item.name, version: item.version, enabled: item.enabled };
    case "due":
      // The first frame of such a turn speaks to the model; what fell due is said to a person by
      // the one after it.
      return { key, kind, content: state.fired.get(item.turn) ?? "" };
    default:
      return { key, kind, content: item.content };
  }
}

function toolRow({ key, name, args, outcome, called }, turn, { state, waits }) {
  const lost = outcome === undefined && hasEnded(turn);
  const call = Number(key.slice("call:".length));
  const open = lost ? "failed" : waits.has(call) ? "waiting" : "running";
  return {
    key,
    kind: "tool",
    name,
    args,
    outcome,
    state: outcome ? (outcome.ok ? "ok" : "failed") : open,
    lost,
    called: called === true,
    operations: state.operations.get(call),
    classified: state.classified.get(call),
    call,
    kept: outcome?.kept ?? 0,
    undone: state.undone.get(call),
  };
}
