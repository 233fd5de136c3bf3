// Relay: conversations with outside people. All of them, with the channels they run over and the
// programs that hear of them, and each one with its transcript (`#relay/7`).

import { withRelay } from "../core/api-relay.js";
import { h } from "../core/dom.js";
import { oneAtATime } from "../core/one-at-a-time.js";
import { styles } from "../core/styles.js";
import { onChange } from "../core/watch.js";
import { words } from "../core/words.js";
import { mainState } from "../core/workspace.js";
import { button } from "../ui/button.js";
import { errorState } from "../ui/states.js";
import { channelsSection } from "./channels.js";
import { instanceDetail } from "./detail.js";
import { instanceList } from "./list.js";
import { webhooksSection } from "./webhooks.js";
import { relay as said } from "./words.js";

/** Between two looks at the channels, of which no frame tells. */
const CHANNELS_MS = 3000;
/** Between two looks at everything, should a frame be missed. */
const ALL_MS = 30_000;

let here;

/** Puts Relay into `host`. */
export async function mount(host, { session: given, storage, go, announce, setTitle, setLead }) {
  const session = withRelay(given);
  await styles(import.meta.url, "../ui/entries.css", "../ui/bars.css", "../ui/code.css", "relay.css");
  const gone = new AbortController();
  const { signal } = gone;
  const { api, store } = session;
  const problem = h("div", { "data-testid": "relay-problem" });
  const tell = (error) => signal.aborted || problem.replaceChildren(errorState(error.message));
  const list = instanceList({ api, signal });
  const channels = channelsSection({ api, signal, announce, tell });
  const webhooks = webhooksSection({ api, signal, announce });
  const detail = instanceDetail({ api, storage, signal, announce, setTitle });
  const overview = h("div", {}, list.node, channels.node, webhooks.node);
  const sheet = h("div", { class: "sheet wide", "data-testid": "relay" }, problem, overview, detail.node);
  host.append(sheet);

  const load = oneAtATime(() => (detail.node.hidden ? list.load() : detail.load()));
  const look = oneAtATime(() => channels.load().catch(() => undefined));
  const deed = (work, done) => async ({ detail: told }) => {
    problem.replaceChildren();
    try {
      await work(told);
      announce(done);
    } catch (error) {
      tell(error);
    }
    await load();
    told.done();
    focusOn(sheet, told.message.id);
  };
  sheet.addEventListener("relay-resend", deed(({ message }) => api.relayResend(message.id), said.resent));
  sheet.addEventListener("relay-settle", deed(({ message, as }) => api.relaySettle(message.id, as), said.settled));

  const unseen = () => document.hidden || signal.aborted;
  const timers = [setInterval(() => unseen() || detail.node.hidden === false || look(), CHANNELS_MS), setInterval(() => unseen() || load(), ALL_MS)];
  const news = (workspace) => {
    const { changedLists, connection } = mainState(workspace);
    return [changedLists?.relay, connection.status === "connected"];
  };
  store.subscribe(onChange(news, () => signal.aborted || load()));
  here = { gone, timers, list, webhooks, detail, overview, sheet, look, go, setTitle, setLead };
}

/** Gives the focus back that a button had which is gone: to its message, else to the next of which nobody knows, else to the sheet. */
function focusOn(sheet, message) {
  if (sheet.contains(document.activeElement)) return;
  const shown = (query) => [...sheet.querySelectorAll(query)].find((found) => !found.closest("[hidden]"));
  const next = shown(`[data-message="${message}"]`) ?? shown("[data-testid=relay-unknown] [data-message]") ?? sheet;
  next.tabIndex = -1;
  next.focus();
}

/** Shows what the address names: all of them, or one. */
export function show([id] = []) {
  if (!here) return;
  const { detail, list, webhooks, overview, sheet, look, go, setTitle, setLead } = here;
  overview.hidden = id !== undefined;
  detail.node.hidden = id === undefined;
  sheet.scrollTop = 0;
  if (id !== undefined) {
    setTitle(said.instance(id));
    setLead(button(words.places.relay, () => go("relay"), { kind: "quiet", icon: "back", "data-testid": "relay-back" }));
    detail.open(id);
    return;
  }
  detail.close();
  setTitle(words.places.relay);
  setLead(undefined);
  list.load();
  webhooks.load();
  look();
}

/** Takes Relay out. */
export function unmount() {
  here?.gone.abort();
  for (const timer of here?.timers ?? []) clearInterval(timer);
  here = undefined;
}
