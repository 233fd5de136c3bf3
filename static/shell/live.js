// Things that are live and out of sight, and things that are new: for the dock and for
// notifications. Pure.

import { waiting } from "../core/state-law.js";
import { openTurns } from "../core/state-parts.js";
import { words } from "../core/words.js";
import { alive, mainState } from "../core/workspace.js";

/** The rows of the dock. `inChat` is true if the conversation that is shown is in sight: what it does is seen there. */
export function dockRows(workspace, inChat) {
  const seen = inChat ? workspace.shown : undefined;
  const rows = [];
  const { timer, timed } = mainState(workspace).lists.timer?.entries ?? {};
  if (timer && timer.state !== "idle") rows.push({ key: "timer", kind: "timer", timer, title: timed });
  if (mainState(workspace).connection.status === "offline") rows.push({ key: "offline", kind: "offline", text: words.dock.offline });
  for (const { conversation, approvals } of alive(workspace)) {
    if (conversation === seen) continue;
    const title = titleOf(workspace, conversation);
    const kind = approvals > 0 ? "waits" : "runs";
    rows.push({ key: `${kind}:${conversation}:${title}`, kind, conversation, text: words.dock[kind](title) });
  }
  const { known, ids } = mainState(workspace).elsewhere;
  for (const { id, conversation } of known.values()) {
    // One that was opened meanwhile tells by itself.
    if (workspace.states.has(conversation) && waiting(workspace.states.get(conversation)).length > 0) continue;
    const title = titleOf(workspace, conversation);
    rows.push({ key: `elsewhere:${id}:${title}`, kind: "waits", conversation, text: words.dock.waits(title) });
  }
  const unknown = ids.length - known.size;
  if (unknown > 0) rows.push({ key: `elsewhere:${unknown}`, kind: "waits", text: words.dock.waitsSomewhere(unknown) });
  return rows;
}

function titleOf(workspace, conversation) {
  const known = mainState(workspace).lists.conversations?.entries?.conversations ?? [];
  return known.find(({ id }) => id === conversation)?.title || words.dock.conversation(conversation);
}

/** The changes since the last time that are worth a notification: `{ approvals, finished }`; `ended` is the conversation of a turn that finished. */
export function newsOf(workspace, before) {
  const approvals = [...workspace.states.values()].flatMap((state) => waiting(state).map(({ id }) => id));
  const running = new Map([...workspace.states].flatMap(([conversation, state]) => openTurns(state.turns).map(({ id }) => [id, conversation])));
  const gone = [...(before?.running ?? [])].find(([turn]) => !running.has(turn));
  const ids = new Set([...approvals, ...mainState(workspace).elsewhere.ids]);
  return {
    ids,
    running,
    approvals: before !== undefined && [...ids].some((id) => !before.ids.has(id)),
    finished: gone !== undefined,
    ended: gone?.[1],
  };
}
