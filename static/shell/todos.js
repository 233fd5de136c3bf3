// Lea and Law in every place: their conversations are followed, reminders and the end of the timer
// are told, and the timer in the dock is pressed.

import { todoApi } from "../core/api-todo.js";
import { conversationsOf } from "../core/characters.js";
import { settled } from "../core/orders.js";
import { isBusy } from "../core/state.js";
import { wordsOf } from "../core/words.js";
import { mainState } from "../core/workspace.js";
import { toast } from "../ui/toast.js";
import { notify } from "./attention.js";
import { chime, todoNews } from "./todo-news.js";

const { timer: said } = await wordsOf("todo");

/** Begins it; it is loaded when the line is up. */
export function listenForTodos({ session, announce }) {
  const { store, api, lists } = session;
  const followed = new Set();
  let before;
  const listen = (workspace) => {
    const { status } = mainState(workspace).connection;
    // A conversation that could not be heard is tried again with the next line.
    if (status !== before) followed.clear();
    before = status;
    if (status !== "connected") return;
    for (const conversation of Object.values(conversationsOf(workspace))) {
      if (followed.has(conversation)) continue;
      followed.add(conversation);
      session.follow(conversation).catch(() => undefined);
    }
  };
  store.subscribe(listen);
  listen(store.getState());
  const tell = ({ kind, content }) => {
    if (kind === "timer") chime();
    if (document.hidden) notify(content);
    announce(content);
    toast(content);
  };
  const news = todoNews(tell);
  store.subscribe(news);
  news(store.getState());

  /** The timer is one for both characters. Pressed in the conversation that is free: a question holds up the other. */
  async function press({ name, done }) {
    const { states } = store.getState();
    const free = Object.entries(conversationsOf(store.getState())).find(([, id]) => !states.has(id) || !isBusy(states.get(id)));
    try {
      const outcome = await settled(api, await todoApi(api.ask).todo(free?.[0] ?? "lea", name, {}));
      if (outcome.state !== "done") throw new Error(outcome.said ?? said.notDone);
    } catch (error) {
      toast(said.failed(error.message));
    }
    await lists.load("timer");
    done();
  }

  addEventListener("press-timer", ({ detail }) => press(detail));
}
