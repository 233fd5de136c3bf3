// One campaign: its state and how it is steered, what waits for a person, and all that it has.

import { waitingRows } from "../core/approvals.js";
import { addressOf } from "../core/address.js";
import { h, keyed } from "../core/dom.js";
import { shortTime } from "../core/times.js";
import { oneAtATime } from "../core/one-at-a-time.js";
import { plainVisible } from "../core/visible.js";
import "../ui/approval.js";
import { button } from "../ui/button.js";
import { exactNodes } from "../ui/exact.js";
import { problemLine } from "../ui/section.js";
import { errorState, waitingFor } from "../ui/states.js";
import { artifactsSection } from "./artifacts.js";
import { contextsSection } from "./contexts.js";
import { cyclesSection } from "./cycles.js";
import { leadsSection } from "./leads.js";
import { logsSection } from "./logs.js";
import { deeper, lookBack } from "./older.js";
import { stateWord } from "./part.js";
import { recordSection } from "./record.js";
import { isOver, steps, whyOf } from "./rows.js";
import { tasksSection } from "./tasks.js";
import { campaigns as said } from "./words.js";

/** The detail: `{ node, open(id), load(), told(workspace), close(), shows() }`. `went(id)` is told of a copy. */
export function campaignDetail({ api, storage, signal, announce, setTitle, went }) {
  const node = h("div", { class: "campaigns-detail", "data-testid": "campaigns-detail" });
  let shown;
  let workspace;

  /** Shows a campaign, from its beginning. */
  function open(id) {
    if (shown?.id === id) return load();
    const mine = { id, depth: 1 };
    /** Looks further back in both logs. */
    const older = () => {
      mine.depth = deeper(mine.depth);
      return load();
    };
    const parts = makeParts({ api, id, storage, signal, announce, went, older, load: () => load() });
    shown = Object.assign(mine, { parts });
    node.replaceChildren(parts.problem, waitingFor(() => load()));
    return load();
  }

  const load = oneAtATime(async () => {
    const mine = shown;
    if (!mine) return;
    try {
      const { depth } = mine;
      // A kind that comes later stands among the newest lines.
      mine.kinds ??= api.campaignLogKinds(mine.id);
      const asked = [api.campaign(mine.id), api.campaignLeads(mine.id), lookBack(api, mine.id, depth), mine.kinds];
      const [info, { leads }, logs, kinds] = await Promise.all(asked);
      if (signal.aborted || shown !== mine) return;
      mine.parts.show({ info, leads, kinds, ...logs });
      setTitle(plainVisible(info.campaign.name));
      if (!mine.isShown) node.replaceChildren(mine.parts.problem, mine.parts.node);
      const { status, conversation_id: conversation } = info.campaign;
      if (mine.status && mine.status !== status) announce(said.now(said.states[status] ?? status));
      Object.assign(mine, { isShown: true, status, conversation });
      mine.parts.problem.replaceChildren();
      if (workspace) told(workspace);
    } catch (error) {
      mine.kinds = undefined;
      if (signal.aborted || shown !== mine) return;
      node.querySelector(".skeleton")?.remove();
      mine.parts.problem.replaceChildren(errorState(said.missing(mine.id, error.message), load));
    }
  });

  /** Shows the approvals that wait in its conversation. */
  function told(now) {
    workspace = now;
    if (shown?.isShown) shown.parts.waits(waitingRows(now).filter(({ conversation }) => conversation === shown.conversation));
  }

  const close = () => {
    shown = undefined;
    node.replaceChildren();
  };
  /** The campaign that is in sight. */
  const shows = () => (shown?.isShown ? Number(shown.id) : undefined);
  return { node, open, load, told, close, shows };
}

function makeParts({ api, id, storage, signal, announce, went, older, load }) {
  const head = h("div", { class: "campaigns-about" });
  const { line, say } = problemLine();
  const problem = h("div", {});
  const waitingList = h("div", { class: "campaigns-waits" });
  const waiting = h("section", { hidden: true, "data-testid": "campaigns-waits" }, h("h2", {}, said.waits), waitingList);
  /** Does what a person asked for; what is wrong with it is said above, and all is shown as it is now. */
  const order = async (work) => {
    say(undefined);
    try {
      await work();
    } catch (error) {
      say(error.message);
    }
    await load();
  };
  const steer = (how) => order(async () => {
    const answer = await api.steerCampaign(id, how);
    if (how !== "copy") return;
    announce(said.copied(answer.id));
    went(answer.id);
  });
  const shared = { api, id, storage, signal, order, older, load, announce };
  const [tasks, cycles, leads, artifacts, contexts, logs] = [tasksSection(shared), cyclesSection(shared), leadsSection(shared), artifactsSection(shared), contextsSection(shared), logsSection(shared)];
  const node = h("div", {}, head, line, h("p", { class: "campaigns-note" }, said.rules), waiting, tasks.node, cycles.node, leads.node, artifacts.node, contexts.node, logs.node, recordSection(shared));

  function show({ info, leads: all, events, audit, back, kinds }) {
    showHead(head, info, steer);
    const over = isOver(info.campaign);
    tasks.put(info.tasks, over);
    cycles.put(events, audit, back);
    leads.put(all, info.leads, over);
    artifacts.put(info.artifacts, over);
    contexts.put(info.contexts, over);
    logs.put(events, audit, back, kinds);
  }
  const waits = (rows) => {
    waiting.hidden = rows.length === 0;
    keyed(waitingList, rows, () => document.createElement("l3-approval"));
  };
  return { node, problem, show, waits };
}

function showHead(head, { campaign, watched, browser }, steer) {
  const told = JSON.stringify([campaign, watched, browser]);
  if (head.told === told) return;
  head.told = told;
  const part = head.contains(document.activeElement) ? document.activeElement.dataset.part : undefined;
  const { id, status, cycles, next_at: next, copy_of: copyOf } = campaign;
  const why = whyOf(campaign);
  const facts = [said.cycles(cycles), next && status === "active" && said.nextAt(shortTime(next))].filter(Boolean).join(" · ");
  const deeds = steps(campaign).map((how) => button(said[how], () => steer(how), { kind: how === "start" || how === "resume" ? "primary" : "plain", "data-part": how, "data-testid": `campaigns-${how}` }));
  head.replaceChildren(
    h("p", { class: "campaigns-head" }, said.title(id), stateWord(status, said.states[status] ?? status, { "data-testid": "campaigns-state" }), h("span", { class: "campaigns-note" }, facts)),
    h("p", { class: "campaigns-lights" }, light(watched, watched ? said.watched : said.unwatched, "presence"), light(browser, browser ? said.browser : said.noBrowser, "browser")),
    why ? h("p", { class: "campaigns-why", dir: "auto", "data-testid": "campaigns-why" }, exactNodes(why)) : "",
    copyOf ? h("p", { class: "campaigns-note" }, h("a", { href: addressOf("campaigns", copyOf), class: "campaigns-name", "data-part": "copy-of" }, said.copyOf(copyOf))) : "",
    h("div", { class: "campaigns-deeds" }, deeds),
  );
  if (part) (head.querySelector(`[data-part="${part}"]`) ?? head.querySelector("button"))?.focus();
}

const light = (on, text, name) => h("span", { class: "campaigns-light", "data-light": name, "data-on": String(Boolean(on)) }, text);
