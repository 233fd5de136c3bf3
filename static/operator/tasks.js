// The tasks of the operator, the newest first: order, state, and what came of it. One that waits
// has its card here.

import { addressOf } from "../core/address.js";
import { waitingRows } from "../core/approvals.js";
import { h, keyed } from "../core/dom.js";
import { localTime, shortTime } from "../core/times.js";
import "../ui/approval.js";
import { exactNodes } from "../ui/exact.js";
import { emptyState, waitingFor } from "../ui/states.js";
import { operator as said } from "./words.js";

/** The section: `{ node, put(answer), told(workspace), failed() }`. */
export function taskSection({ again }) {
  let conversation;
  const waits = h("div", { class: "operator-waits", "data-testid": "operator-waits" });
  const waiting = h("div", {}, waitingFor(again));
  const none = emptyState(said.none, said.noneHelp);
  none.hidden = true;
  const list = h("div", { role: "list", "aria-label": said.tasks, "data-testid": "operator-tasks" });
  const node = h("section", {}, waits, h("h2", {}, said.tasks), waiting, none, list);

  function put({ tasks, conversation: its }) {
    conversation = its;
    waiting.hidden = true;
    none.hidden = tasks.length > 0;
    const rows = tasks.map((task) => ({ key: task.id, task, told: JSON.stringify(task) }));
    keyed(list, rows, () => document.createElement("l3-operator-task"));
  }

  function told(workspace) {
    const rows = waitingRows(workspace).filter((row) => row.conversation === conversation);
    keyed(waits, rows, () => document.createElement("l3-approval"));
  }
  /** The tasks did not come, which is said elsewhere: nothing is waited for any more. */
  const failed = () => (waiting.hidden = true);
  return { node, put, told, failed };
}

/** `<l3-operator-task>`: a row of the list; `data` has a `task`. */
class OperatorTask extends HTMLElement {
  set data({ task, told }) {
    if (this.told === told) return;
    this.told = told;
    this.setAttribute("role", "listitem");
    const { id, state, goal, from, reason, answer, unproven, undelivered = [], created_at: at } = task;
    const head = h(
      "div",
      { class: "operator-head" },
      h("a", { href: addressOf("operator", id), title: said.course, "data-task": id }, said.task(id)),
      h("span", { class: "operator-state", "data-state": state }, said.states[state] ?? state),
      h("span", { class: "operator-note" }, from ? said.from(from) : said.byPage),
      h("time", { datetime: at, title: localTime(at) }, shortTime(at)),
    );
    const parts = [head, h("p", { class: "operator-goal", dir: "auto" }, exactNodes(goal))];
    const came = state === "ABORTED" ? reason : answer;
    if (came) parts.push(h("p", { class: "operator-note", dir: "auto" }, exactNodes(came)));
    if (unproven) parts.push(h("p", { class: "operator-undelivered", "data-testid": "operator-unproven" }, said.unproven));
    for (const message of undelivered) parts.push(h("p", { class: "operator-undelivered", dir: "auto", "data-testid": "operator-undelivered" }, undeliveredWords(message)));
    this.replaceChildren(...parts);
  }
}

/** The words for a person about a message on a task that did not arrive, or may not have. */
function undeliveredWords({ about, state, reason }) {
  const told = state === "failed" ? said.failed : said.unknown;
  return [told[about] + (reason ? `: ${reason}` : ""), about === "question" ? said.decideHere : state === "unknown" ? said.sendAgain : ""].filter(Boolean).join(". ");
}

customElements.define("l3-operator-task", OperatorTask);
