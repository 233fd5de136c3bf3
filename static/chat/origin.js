// The beginning of a branch: the turns of the other conversation that had ended there, above its
// own. They are only read here.

import { hasEnded } from "../core/state-parts.js";
import { initialState, reduce } from "../core/state.js";
import { turnRows } from "./turns.js";

/** So many events are asked for at once. */
const LONG_PAGE = 1000;

/** The rows above a branch, from the frames of the conversation that it goes on from. Pure. */
export function originRows(frames, { conversation, seq }, hello) {
  let state = reduce(initialState(), { ...hello, conversation });
  for (const frame of frames) state = reduce(state, frame);
  const ended = new Set([...state.turns].filter(([, turn]) => hasEnded(turn) && turn.endSeq <= seq).map(([id]) => `foot:${id}`));
  const rows = [];
  let turn = [];
  // A foot ends each turn that is over; what has none, or came later, is not part of the branch.
  for (const row of turnRows(state)) {
    turn.push(row);
    if (row.kind !== "foot") continue;
    if (ended.has(row.key)) rows.push(...turn.map(readOnly));
    turn = [];
  }
  return rows;
}

function readOnly({ editAt, retryAt, branchAt, retried, ...row }) {
  const steps = row.steps?.map((step) => ({ ...step, kept: 0 }));
  return { ...row, key: `origin:${row.key}`, ...(steps && { steps }) };
}

/** All rows above a branch: those of the conversation that it goes on from, and above them those of the one that this one goes on from. */
async function allRows(api, from, hello) {
  const all = [];
  let page = { before: from.seq + 1 };
  do {
    page = await api.frames(from.conversation, page.before, LONG_PAGE);
    all.unshift(...page.frames);
  } while (page.before);
  const above = page.from ? await allRows(api, page.from, hello) : [];
  return [...above, ...originRows(all, from, hello)];
}

/** Loads these rows once for each branch: `rows(state)` gives what is there, and `told()` is called when more is. */
export function createOrigins({ api, told }) {
  const known = new Map();
  return function rows(state) {
    const { from, hello, historyAfter } = state;
    if (!from || historyAfter !== 0 || !hello) return [];
    const { conversation } = hello;
    if (!known.has(conversation)) {
      known.set(conversation, []);
      allRows(api, from, hello).then(
        (rows) => (known.set(conversation, rows), told()),
        // The line that names the other conversation, with its link, stands there.
        () => {},
      );
    }
    return known.get(conversation);
  };
}
