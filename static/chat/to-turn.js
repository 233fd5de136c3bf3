// Goes to one turn of a conversation, as an address such as `#chat/7/123` names it: what is before
// is loaded until it is there.

import { styles } from "../core/styles.js";
import { wordsOf } from "../core/words.js";
import { loadBack } from "./earlier.js";

await styles(import.meta.url, "find.css");

const { find: said } = await wordsOf("find");

/**
 * Goes to the message of `turn`, or with `part` "answer" to its answer, and marks it. `chat` is the place; a person who has gone elsewhere
 * meanwhile stays there.
 */
export async function toTurn(chat, conversation, turn, part) {
  const { store, api } = chat.session;
  const { hash } = location;
  const isWanted = () => location.hash === hash && !chat.failed.has(conversation) && !chat.gone.signal.aborted;
  const getState = () => store.getState().states.get(conversation);
  // The address may be there before the line is up.
  await until(store, () => !isWanted() || (getState()?.historyAfter ?? null) !== null);
  try {
    await loadBack({ api, getState, dispatch: store.dispatch }, () => !isWanted() || getState().turns.has(turn));
  } catch (error) {
    chat.say(conversation, said.notLoaded(error.message));
    return;
  }
  await chat.prepare();
  if (!isWanted()) return;
  chat.told(store.getState());
  const row = keysOf(getState(), turn, part).reduce((found, key) => found ?? chat.messages.toKey(key), undefined);
  if (row) mark(chat.messages, row);
  else chat.say(conversation, said.notThere);
}

/** The keys that the row may have, the best first. Pure. */
export function keysOf({ items }, turn, part) {
  const own = [...items.values()].filter((item) => item.turn === turn).sort((a, b) => a.at - b.at);
  const said = own.filter(({ kind }) => kind === "user" || kind === "due");
  const answers = own.filter(({ kind }) => kind === "assistant").reverse();
  const inOrder = part === "answer" ? [...answers, ...said] : [...said, ...answers];
  const keys = inOrder.flatMap(({ key, clientId, streamKey }) => [...(clientId ? [`said:${clientId}`] : []), ...(streamKey ? [`text:${streamKey}`] : []), key]);
  return [...keys, `foot:${turn}`];
}

/** Marks a row, and no other, and gives it the focus: from there a person goes on. */
export function mark(messages, row, withFocus = true) {
  for (const node of messages.list.querySelectorAll(":scope > [data-found]")) delete node.dataset.found;
  row.dataset.found = "true";
  if (!withFocus) return;
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
}

/** Resolves when `isSo()`, which is asked with each news. */
function until(store, isSo) {
  return new Promise((resolve) => {
    const listening = new AbortController();
    const look = () => {
      if (!isSo()) return;
      listening.abort();
      resolve();
    };
    store.subscribe(look, listening.signal);
    look();
  });
}
