// The inbox of approvals: what waits for a person in any conversation, and what was decided, by
// whom and through which door.

import { addressOf } from "../core/address.js";
import { approvalsMark, decidedRows, waitingRows } from "../core/approvals.js";
import { h, keyed } from "../core/dom.js";
import { styles } from "../core/styles.js";
import { localTime, shortTime } from "../core/times.js";
import { words } from "../core/words.js";
import { mainState, shownState } from "../core/workspace.js";
import { approvalBody } from "../ui/approval-body.js";
import { approvals as said } from "../ui/approval-words.js";
import "../ui/approval.js";
import { exactNodes } from "../ui/exact.js";
import { saidNodes } from "../ui/said.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";
import { toast } from "../ui/toast.js";

let here;

/** Puts the inbox into `host`. */
export async function mount(host, { session }) {
  await styles(import.meta.url, "../ui/code.css", "../ui/approval.css", "approvals.css");
  here = new Inbox(host, session);
}

/** Goes to the approval of the address, whether it waits or was decided. */
export const show = ([id]) => here?.goTo(id);

/** Takes the inbox out. */
export function unmount() {
  here?.gone.abort();
  here = undefined;
}

class Inbox {
  constructor(host, session) {
    this.session = session;
    this.gone = new AbortController();
    this.waits = h("div", { class: "approvals-waiting", "data-testid": "approvals-waiting" });
    this.heading = h("h2", { tabindex: "-1" }, said.waits);
    this.none = emptyState(said.none, said.noneHelp);
    this.decided = h("ol", { class: "decisions", "data-testid": "decisions" });
    this.noneYet = h("p", { class: "none", hidden: true }, said.noDecisions);
    this.problem = h("div", {}, waitingFor(() => session.lists.load("decisions"), 2));
    const now = h("section", {}, this.heading, this.none, this.waits);
    const before = h("section", {}, h("h2", {}, said.decided), this.problem, this.noneYet, this.decided);
    this.missing = h("div", {});
    host.append(h("div", { class: "sheet" }, this.missing, now, before));
    /** The list as it was known before: it may have changed. */
    this.stale = mainState(session.store.getState()).lists.decisions;
    host.addEventListener("decide", ({ detail }) => session.decide(detail), { signal: this.gone.signal });
    session.store.subscribe((workspace) => this.told(workspace), this.gone.signal);
    this.told(session.store.getState());
  }

  told(workspace) {
    const { connection, lists } = mainState(workspace);
    // The decisions change with the questions that wait, and may have changed while the line was
    // down.
    const isConnected = connection.status === "connected";
    // Opened without a line, the inbox asks once: then the reason is said, and nothing is waited
    // for.
    const isLost = !isConnected && connection.status !== "connecting" && !lists.decisions;
    const mark = isConnected ? approvalsMark(workspace) : isLost ? "" : undefined;
    if (mark !== undefined && mark !== this.mark) this.session.lists.load("decisions");
    this.mark = mark;
    this.sayRefusal(workspace);
    const rows = waitingRows(workspace);
    const hadFocus = this.waits.contains(document.activeElement);
    keyed(this.waits, rows, () => document.createElement("l3-approval"));
    // A card that was decided leaves; who decided with the keyboard goes on from the heading.
    if (hadFocus && !this.waits.contains(document.activeElement)) this.heading.focus({ preventScroll: true });
    const { error, entries } = lists.decisions ?? {};
    if (lists.decisions !== this.shown) this.showDecided(workspace, lists.decisions);
    // Nothing is said to be empty before the server said so.
    this.none.hidden = rows.length > 0 || entries === undefined || Boolean(error);
    if (this.wanted !== undefined) this.goTo(this.wanted);
  }

  showDecided(workspace, list) {
    this.shown = list;
    const { error, entries } = list ?? {};
    this.problem.replaceChildren(...(error ? [errorState(error, () => this.session.lists.load("decisions"))] : []));
    const decided = decidedRows(workspace);
    keyed(this.decided, decided, decidedEntry);
    this.noneYet.hidden = decided.length > 0 || entries === undefined;
  }

  /** A decision that was refused is told to the conversation that is shown; here it would not be seen. */
  sayRefusal(workspace) {
    const { notices, noticeCount } = shownState(workspace);
    if (this.noticeCount !== undefined && noticeCount > this.noticeCount) toast(notices.at(-1).content);
    this.noticeCount = noticeCount;
  }

  goTo(id) {
    this.wanted = id;
    this.missing.replaceChildren();
    if (id === undefined) return;
    const card = this.waits.querySelector(`l3-approval[data-approval="${CSS.escape(id)}"]`);
    const decided = this.decided.querySelector(`[data-decided="${CSS.escape(id)}"] > details`);
    const at = card ?? decided;
    const isKnown = this.shown?.entries !== undefined && !this.shown.error && this.shown !== this.stale;
    if (!at && !isKnown) return;
    this.wanted = undefined;
    if (!at) {
      this.missing.replaceChildren(emptyState(words.places.unknown(location.hash), said.missingHelp));
      return;
    }
    at.scrollIntoView({ block: "start" });
    if (decided && !card) decided.open = true;
    // The heading, never a button: a key pressed now must not decide anything.
    const focus = card ? card.heading : decided.firstElementChild;
    focus?.focus({ preventScroll: true });
  }
}

function decidedEntry({ id, conversation, title, shown, tool, state, channel, reason, decidedAt, createdAt }) {
  const what = shown?.what?.[0] ?? tool ?? "";
  const at = decidedAt ?? createdAt;
  const foot = h("p", { class: "entry-foot" }, h("span", { class: "decision-state", "data-state": state }, said.states[state] ?? state));
  const who = said.by[channel];
  if (who) foot.append(` · ${who}`);
  if (at) foot.append(" · ", h("time", { datetime: at, title: localTime(at) }, shortTime(at)));
  foot.append(" · ", h("a", { href: addressOf("chat", String(conversation)), dir: "auto" }, title || words.dock.conversation(conversation)));
  const why = reason && channel !== "instead" ? h("p", { class: "decision-reason", dir: "auto" }, "“", exactNodes(reason), "”") : "";
  const body = h("div", { class: "approval-body" });
  const card = h("details", {}, h("summary", {}, h("span", { class: "decision-what", dir: "auto" }, saidNodes(what))), body);
  card.addEventListener("toggle", () => card.open && !body.firstChild && shown && body.append(...approvalBody(shown)));
  return h("li", { "data-decided": String(id) }, card, foot, why);
}
