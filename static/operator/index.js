// Operator: its tasks with their states and questions, the channel by which orders come, and what
// it remembers between tasks.

import { addressOf } from "../core/address.js";
import { operatorApi } from "../core/api-operator.js";
import { h } from "../core/dom.js";
import { styles } from "../core/styles.js";
import { mainState } from "../core/workspace.js";
import { errorState } from "../ui/states.js";
import { channelPart } from "./channel.js";
import { openTask } from "./detail.js";
import { memorySection } from "./memory.js";
import { taskSection } from "./tasks.js";
import { operator as said } from "./words.js";

/** Between two looks: its tasks change in a conversation that is not open here. */
const LOOK_MS = 3000;

let here;

/** Puts the operator into `host`. */
export async function mount(host, { session, storage, announce }) {
  await styles(import.meta.url, "../ui/entries.css", "../ui/code.css", "../ui/approval.css", "operator.css");
  const gone = new AbortController();
  const { signal } = gone;
  const api = operatorApi(session.api.ask);
  const problem = h("div", { "data-testid": "operator-problem" });
  const tasks = taskSection({ again: () => load() });
  let wrong;
  const tell = ({ message }) => {
    if (signal.aborted) return;
    tasks.failed();
    // Told again with each look; the button in it may have the focus.
    if (message !== wrong) problem.replaceChildren(errorState(said.cannot(message), load));
    wrong = message;
  };
  const channel = channelPart();
  const memory = memorySection({ api, storage, signal, announce, tell });
  const sheet = h("div", { class: "sheet", "data-testid": "operator" }, problem, channel.node, tasks.node, memory.node);
  host.append(sheet);
  host.addEventListener("decide", ({ detail }) => session.decide(detail), { signal });

  async function load() {
    try {
      const [answer, { channels }] = await Promise.all([api.operator(), api.operatorChannels()]);
      if (signal.aborted) return;
      Object.assign(here, { conversation: answer.conversation });
      here.opened?.load();
      tasks.put(answer);
      tasks.told(session.store.getState());
      await channel.put(answer, channels);
      await memory.load();
      problem.replaceChildren();
      wrong = undefined;
    } catch (error) {
      tell(error);
    }
  }

  const timer = setInterval(() => document.hidden || load(), LOOK_MS);
  let before;
  const told = (workspace) => {
    tasks.told(workspace);
    const isUp = mainState(workspace).connection.status === "connected";
    if (isUp && before === false) load();
    before = isUp;
  };
  session.store.subscribe(told, signal);
  here = { gone, timer, api, sheet };
  await load();
}

/** Shows what the address names: all tasks, or one beside them. */
export function show([id] = []) {
  if (!here) return;
  here.opened = undefined;
  if (id === undefined) return;
  const { gone, api, sheet, conversation } = here;
  const opened = openTask({ api, signal: gone.signal, id, conversation, from: sheet.querySelector(`[data-task="${CSS.escape(id)}"]`) ?? sheet });
  here.opened = opened;
  const closed = () => {
    if (here?.opened !== opened) return;
    here.opened = undefined;
    // The address is that of all again, so that the same link opens the task once more.
    if (location.hash === addressOf("operator", id)) history.replaceState(null, "", addressOf("operator"));
  };
  opened.node.addEventListener("details-closed", closed, { once: true });
}

/** Takes the operator out. */
export function unmount() {
  here?.gone.abort();
  clearInterval(here?.timer);
  here = undefined;
}
