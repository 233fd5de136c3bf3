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
  for (const { id, waiting: asked } of runsElsewhere(workspace)) {
    if (asked > 0 || id === seen || rows.some(({ conversation }) => conversation === id)) continue;
    const title = titleOf(workspace, id);
    rows.push({ key: `runs:${id}:${title}`, kind: "runs", conversation: id, text: words.dock.runs(title) });
  }
  const unknown = ids.length - known.size;
  if (unknown > 0) rows.push({ key: `elsewhere:${unknown}`, kind: "waits", text: words.dock.waitsSomewhere(unknown) });
  return rows;
}

const listed = (workspace) => mainState(workspace).lists.conversations?.entries?.conversations ?? [];

/** Conversations that are not open here and in which a turn runs or waits, as the server's list tells. */
const runsElsewhere = (workspace) => listed(workspace).filter(({ id, running }) => running && (workspace.states.get(id)?.historyAfter ?? null) === null);

function titleOf(workspace, conversation) {
  return listed(workspace).find(({ id }) => id === conversation)?.title || words.dock.conversation(conversation);
}

/** The changes since the last time that are worth a notification: `{ approvals, finished }`; `ended` is the conversation of a turn that finished. */
export function newsOf(workspace, before) {
  const approvals = [...workspace.states.values()].flatMap((state) => waiting(state).map(({ id }) => id));
  const running = new Map([...workspace.states].flatMap(([conversation, state]) => openTurns(state.turns).map(({ id }) => [id, conversation])));
  // One that is followed tells of its turns itself.
  for (const { id } of runsElsewhere(workspace)) if (!workspace.states.get(id)?.followed) running.set(`in ${id}`, id);
  // A conversation that was opened meanwhile tells of its turns from now on.
  const still = new Set(running.values());
  const gone = [...(before?.running ?? [])].find(([turn, conversation]) => !running.has(turn) && (turn > 0 || !still.has(conversation)));
  const ids = new Set([...approvals, ...mainState(workspace).elsewhere.ids]);
  return {
    ids,
    running,
    approvals: before !== undefined && [...ids].some((id) => !before.ids.has(id)),
    finished: gone !== undefined,
    ended: gone?.[1],
  };
}
