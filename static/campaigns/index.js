// Campaigns: goals as tasks, leads and artifacts, towards which a model proposes one step at a
// time. All of them, and each one (`#campaigns/3`).

import { campaignsApi } from "../core/api-campaigns.js";
import { h } from "../core/dom.js";
import { oneAtATime } from "../core/one-at-a-time.js";
import { styles } from "../core/styles.js";
import { onChange } from "../core/watch.js";
import { words } from "../core/words.js";
import { mainState } from "../core/workspace.js";
import { button } from "../ui/button.js";
import { campaignDetail } from "./detail.js";
import { campaignList } from "./list.js";
import { campaigns as said } from "./words.js";

/** Between two signs that somebody is there; each holds for 40 s. */
const PRESENT_MS = 15_000;
/** Between two looks, should a frame be missed. */
const LOOK_MS = 30_000;

let here;

/** Puts Campaigns into `host`. */
export async function mount(host, { session, storage, go, announce, setTitle, setLead }) {
  await styles(import.meta.url, "../ui/entries.css", "../ui/code.css", "../ui/approval.css", "campaigns.css");
  const gone = new AbortController();
  const { signal } = gone;
  const api = campaignsApi(session.api.ask);
  const made = (id) => {
    announce(said.made);
    go("campaigns", String(id));
  };
  const list = campaignList({ api, signal, made });
  const detail = campaignDetail({ api, storage, signal, announce, setTitle, went: (id) => go("campaigns", String(id)) });
  const overview = h("div", {}, h("p", { class: "campaigns-note" }, said.rules), list.node);
  const sheet = h("div", { class: "sheet wide", "data-testid": "campaigns" }, overview, detail.node);
  host.append(sheet);
  host.addEventListener("decide", ({ detail: decision }) => session.decide(decision), { signal });

  const load = oneAtATime(() => (detail.node.hidden ? list.load() : detail.load()));
  // Only who sees a campaign watches over it.
  const present = () => {
    const id = detail.node.hidden || document.hidden ? undefined : detail.shows();
    if (id !== undefined) session.present(id);
  };
  const timers = [setInterval(present, PRESENT_MS), setInterval(() => document.hidden || load(), LOOK_MS)];
  document.addEventListener("visibilitychange", present, { signal });
  const news = (workspace) => {
    const { changedLists, connection } = mainState(workspace);
    return [changedLists?.campaigns, connection.status === "connected"];
  };
  const arrived = () => load().then(present);
  session.store.subscribe(onChange(news, () => signal.aborted || arrived()), signal);
  session.store.subscribe((workspace) => detail.told(workspace), signal);
  detail.told(session.store.getState());
  here = { gone, timers, list, detail, overview, sheet, present, go, setTitle, setLead };
}

/** Shows what the address names: all of them, or one. */
export function show([id] = []) {
  if (!here) return;
  const { detail, list, overview, sheet, present, go, setTitle, setLead } = here;
  overview.hidden = id !== undefined;
  detail.node.hidden = id === undefined;
  sheet.scrollTop = 0;
  if (id !== undefined) {
    setTitle(said.title(id));
    setLead(button(words.places.campaigns, () => go("campaigns"), { kind: "quiet", icon: "back", "data-testid": "campaigns-back" }));
    // The light says at once that somebody is there.
    detail.open(id).then(present).then(detail.load);
    return;
  }
  detail.close();
  setTitle(words.places.campaigns);
  setLead(undefined);
  list.load();
}

/** Takes Campaigns out. */
export function unmount() {
  here?.gone.abort();
  for (const timer of here?.timers ?? []) clearInterval(timer);
  here = undefined;
}
