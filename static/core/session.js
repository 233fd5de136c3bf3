// The ground of the whole page: the store, the line to the server, its lists, and the messages that
// are not acknowledged yet.

import { createApi } from "./api.js";
import { Connection } from "./connection.js";
import { createLists } from "./lists.js";
import { loadOutbox, newId, saveOutbox } from "./outbox.js";
import { createStore } from "./store.js";
import { activityMarks, capabilitiesMark, initialWorkspace, mainState, reduceWorkspace, seenByConnection, timersMark, together, wholeOutbox } from "./workspace.js";

/**
 * The session of this tab. `storage` is like `sessionStorage`; `url` is the address of `/chat`. `fetch`, `schedule` and what `Connection` may
 * be given stand in for the browser in tests.
 */
export function createSession({ storage, url, fetch, schedule, ...line }) {
  const store = createStore({ initial: initialWorkspace(), reducer: reduceWorkspace, schedule });
  const { dispatch, getState } = store;
  const api = createApi(fetch);
  const connection = new Connection({ ...line, url, dispatch, getState: () => seenByConnection(getState()), newest: api.newestFrames });
  const looked = new Map();
  const lists = createLists({ api, dispatch, opened: (kind) => looked.get(kind)?.() === true });
  const loading = new Set();

  store.subscribe((workspace) => lists.changed({ ...together(workspace), capabilities: capabilitiesMark(workspace), timers: timersMark(workspace), activity: activityMarks(workspace) }));
  let kept = "";
  store.subscribe((workspace) => {
    const entries = wholeOutbox(workspace);
    const mark = entries.map(({ id, status }) => id + status).join();
    if (mark === kept) return;
    kept = mark;
    saveOutbox(storage, entries);
  });

  const stateOf = (conversation) => getState().states.get(conversation) ?? mainState(getState());

  function setOutbox(conversation, entries) {
    dispatch({ type: "@outbox", conversation, entries });
    // At once, not with the next frame: a reload in between must not lose a message.
    saveOutbox(storage, wholeOutbox(getState()));
  }

  /** Shows a conversation. One that is not the main one is loaded when it is shown first, and followed from then on. */
  async function open(conversation) {
    dispatch({ type: "@show", conversation });
    const { main } = getState();
    if (main === null || conversation === undefined || conversation === main) return;
    if (loading.has(conversation) || stateOf(conversation).historyAfter !== null) return;
    loading.add(conversation);
    try {
      const { frames, before, from } = await api.frames(conversation);
      dispatch({ type: "@frames", conversation, frames });
      dispatch({ type: "@history", conversation, after: (before ?? 1) - 1, from });
      connection.follow(conversation, frames.at(-1)?.seq ?? 0);
    } finally {
      loading.delete(conversation);
    }
  }

  /** From now on hears what happens in a conversation, without its history. */
  async function follow(conversation) {
    if (conversation === getState().main || connection.cursors.has(conversation)) return;
    const { frames } = await api.newestFrames(conversation, 1);
    // One that was opened meanwhile is followed.
    if (connection.cursors.has(conversation)) return;
    const after = frames.at(-1)?.seq ?? 0;
    dispatch({ type: "@follow", conversation, after });
    connection.follow(conversation, after);
  }

  /** Takes a message that has not been sent out of the outbox. */
  function take(id) {
    for (const [conversation, { outbox }] of getState().states) {
      const entry = outbox.find((each) => each.id === id);
      if (!entry) continue;
      setOutbox(conversation, outbox.filter((each) => each !== entry));
      return entry;
    }
    return undefined;
  }

  return {
    store,
    api,
    lists,
    /** From now on a list of this kind is kept fresh while `isOpen()` says that a person looks at it. */
    look: (kind, isOpen) => looked.set(kind, isOpen),
    open,
    follow,
    take,
    /** Sends a message in the conversation that is shown, or in another one; `call` is the one in which it was spoken. */
    send({ content, steer, images, call, conversation = getState().shown }) {
      const { main } = getState();
      const entry = { id: newId(), content, steer, images, call, status: "sending" };
      setOutbox(conversation, [...stateOf(conversation).outbox, entry]);
      connection.sendMessage(conversation === main ? entry : { ...entry, conversation });
    },
    /** Ends what runs and waits in a conversation, by default the one that is shown. */
    stop(conversation = getState().shown) {
      if (connection.sendStop(conversation ?? undefined)) dispatch({ type: "@stopping", conversation });
    },
    decide({ approval, decision, reason }) {
      if (connection.sendDecision(approval, decision, reason)) dispatch({ type: "@deciding", approval, decision });
    },
    retry: () => connection.retryNow(),
    /** Shows what was said last in this conversation, before the line is up. */
    begin: (conversation) => connection.begin(conversation),
    /** Somebody watches over a campaign here. */
    present: (campaign) => connection.send({ type: "present", campaign }),
    /** Puts back what was kept over a reload, and opens the line. */
    start() {
      const entries = loadOutbox(storage);
      for (const conversation of new Set(entries.map((entry) => entry.conversation))) {
        const own = entries.filter((entry) => entry.conversation === conversation);
        dispatch({ type: "@outbox", conversation: conversation ?? null, entries: own.map(({ conversation: _, ...entry }) => entry) });
      }
      connection.open();
    },
  };
}
