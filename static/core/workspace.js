// All conversations that the page has opened: one state each, as `state.js` has it. Pure:
// (workspace, action) → workspace.
//
// An action that names a `conversation` is for that one. Those that name none are for all (the
// line, lists, what waits elsewhere), or for the one that a person looks at.

import { undecided, waiting } from "./state-law.js";
import { openTurns } from "./state-parts.js";
import { initialState, reduce } from "./state.js";

const FOR_ALL = new Set(["@connection", "@list", "@deciding", "@dismiss", "waiting", "changed"]);

/** Nothing is known: one state stands for the main conversation, whose number only `hello` says. */
export function initialWorkspace() {
  return { main: null, shown: null, states: new Map([[null, initialState()]]) };
}

/** The state of the main conversation. */
export const mainState = (workspace) => workspace.states.get(workspace.main);

/** The state of the conversation that a person looks at. */
export const shownState = (workspace) => workspace.states.get(workspace.shown) ?? mainState(workspace);

/** True once it is known what the conversation that is shown holds: of the main one the greeting says if there is nothing. */
export function isLookedAt(workspace) {
  const { historyAfter, hello } = shownState(workspace);
  return historyAfter !== null || (workspace.shown === workspace.main && !(hello?.last_seq > 0));
}

/** The workspace after `action`. */
export function reduceWorkspace(workspace, action) {
  if (action.type === "hello") return greeted(workspace, action);
  if (action.type === "@show") return shown(workspace, action.conversation ?? workspace.main);
  if (action.type === "error" && action.turn === undefined) return refused(workspace, action);
  if (FOR_ALL.has(action.type)) return changed(workspace, () => action);
  const target = action.conversation ?? workspace.main;
  // Words that were written stay, also for a conversation that nobody has looked at yet.
  if (action.type === "@outbox" || action.type === "@follow") workspace = withState(workspace, target);
  return changed(workspace, (id) => (id === target ? action : undefined));
}

/** Gives each state the action that `choose(id)` has for it. */
function changed(workspace, choose) {
  let { states } = workspace;
  for (const [id, state] of workspace.states) {
    const action = choose(id);
    const next = action ? reduce(state, action) : state;
    if (next === state) continue;
    if (states === workspace.states) states = new Map(states);
    states.set(id, next);
  }
  return states === workspace.states ? workspace : { ...workspace, states };
}

function greeted(workspace, hello) {
  const before = mainState(workspace);
  const main = reduce(before, hello);
  // The others lose what `reduce` throws away, too: the server has another past.
  const another = before.historyAfter !== null && main.historyAfter === null;
  const moved = before.hello !== null && hello.conversation !== workspace.main;
  const states = new Map();
  for (const [id, state] of workspace.states) {
    if (id === workspace.main || id === hello.conversation) continue;
    if (another || moved) continue;
    states.set(id, reduce(state, helloFor(hello, id, state.lastSeq)));
  }
  states.set(hello.conversation, mainWith(main, workspace.states.get(hello.conversation)));
  const kept = workspace.shown !== workspace.main && states.has(workspace.shown);
  return { main: hello.conversation, shown: kept ? workspace.shown : hello.conversation, states };
}

/** A message that waits to be sent may have been kept under the number of the main conversation, before that was known to be the main one. */
function mainWith(main, named) {
  if (!named || named === main || named.outbox.length === 0) return main;
  const known = new Set(main.outbox.map(({ id }) => id));
  return { ...main, outbox: [...main.outbox, ...named.outbox.filter(({ id }) => !known.has(id))] };
}

/** The greeting as a conversation other than the main one would get it. */
const helloFor = (hello, conversation, lastSeq) => ({ ...hello, conversation, last_seq: lastSeq });

function shown(workspace, conversation) {
  const { states } = withState(workspace, conversation);
  return workspace.shown === conversation && states === workspace.states ? workspace : { ...workspace, shown: conversation, states };
}

/** The workspace with a state for this conversation; a new one knows what all of them know. */
function withState(workspace, conversation) {
  if (workspace.states.has(conversation)) return workspace;
  const { hello, connection, lists, elsewhere } = mainState(workspace);
  const state = { ...initialState(), hello: hello && helloFor(hello, conversation, 0), connection, lists, elsewhere };
  return { ...workspace, states: new Map(workspace.states).set(conversation, state) };
}

/** A refusal belongs to the conversation whose message it names; one that names none may be of any decision under way. */
function refused(workspace, action) {
  const owner = [...workspace.states].find(([, { outbox }]) => outbox.some(({ id }) => id === action.id));
  const target = action.conversation ?? (action.id !== undefined && owner ? owner[0] : workspace.shown);
  const next = changed(workspace, (id) => (id === target ? { ...action, conversation: undefined } : undefined));
  if (action.id !== undefined) return next;
  return { ...next, states: new Map([...next.states].map(([id, state]) => [id, undecided(state)])) };
}

/** Every message without an acknowledgement, with the conversation it is for. */
export function wholeOutbox({ states, main }) {
  const named = ([id, { outbox }]) => outbox.map((entry) => (id === main ? entry : { ...entry, conversation: id }));
  return [...states].flatMap(named);
}

/** The state for `Connection`: the main conversation, and all that waits to be sent. */
export function seenByConnection(workspace) {
  return { ...mainState(workspace), outbox: wholeOutbox(workspace) };
}

/** The turns and approvals that run or wait in the conversations that are open: `{ conversation, turn, approvals }`. */
export function alive(workspace) {
  return [...workspace.states].flatMap(([conversation, state]) => {
    const turns = openTurns(state.turns);
    const approvals = waiting(state);
    return turns.length > 0 || approvals.length > 0 ? [{ conversation, turns: turns.length, approvals: approvals.length }] : [];
  });
}

/** conversation → another text when a turn came or ended, or something waits or was decided. One whose frames do not come here has none: of those the server says that the list changed. */
export function activityMarks({ states }) {
  const heard = [...states].filter(([, { historyAfter, followed }]) => followed || historyAfter !== null);
  return new Map(heard.map(([id, state]) => [id, `${state.turns.size} ${openTurns(state.turns).length} ${waiting(state).length}`]));
}

/** How many approvals wait for a person, in any conversation. */
export function waitingEverywhere(workspace) {
  const here = [...workspace.states.values()].flatMap((state) => waiting(state).map(({ id }) => id));
  // One that was opened here may still be told as waiting elsewhere.
  return new Set([...here, ...mainState(workspace).elsewhere.ids]).size;
}

/** One view over all conversations, for what does not belong to one: tasks, capabilities, turns. */
export function together(workspace) {
  const states = [...workspace.states.values()];
  const main = mainState(workspace);
  if (states.length === 1) return main;
  return { ...main, ...jointMaps(states) };
}

/** The maps of all conversations in one, as long as none of them is another one than at the last time. */
let joint = { of: [], maps: undefined };

function jointMaps(states) {
  const of = states.flatMap(({ tasks, turns, capabilities }) => [tasks, turns, capabilities]);
  if (of.length === joint.of.length && of.every((map, index) => map === joint.of[index])) return joint.maps;
  const tasks = new Map();
  for (const state of states) for (const [id, task] of state.tasks) tasks.set(id, newerTask(tasks.get(id), task));
  const turns = new Map(states.flatMap((state) => [...state.turns]));
  const capabilities = new Map(states.flatMap((state) => [...state.capabilities]));
  joint = { of, maps: { tasks, turns, capabilities } };
  return joint.maps;
}

function newerTask(known, task) {
  if (!known || task.deleted) return task;
  return known.deleted || Date.parse(known.updated_at) >= Date.parse(task.updated_at) ? known : task;
}

/** A text that is another one when the focus timer has changed. */
export const timersMark = ({ states }) => [...states.values()].map(({ timerSeq = 0 }) => timerSeq).join();

/** A text that is another one when a capability has changed: maps of several conversations are made anew each time. */
export function capabilitiesMark({ states }) {
  const all = [...states.values()].flatMap(({ capabilities }) => [...capabilities.values()]);
  return all.map(({ name, version, enabled, seq }) => `${name} ${version} ${enabled} ${seq}`).join();
}
