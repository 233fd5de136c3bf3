// The instances, the newest first, and above them the messages of which nobody knows whether they
// were sent.

import { addressOf } from "../core/address.js";
import { h, keyed } from "../core/dom.js";
import { localTime, shortTime } from "../core/times.js";
import { exactNodes } from "../ui/exact.js";
import { segmented } from "../ui/forms.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";
import { makeMessage, messageRow } from "./message.js";
import { isOver, rowsOf } from "./rows.js";
import { relay as said } from "./words.js";

/** So many are asked for. */
const MOST = 200;

/** The list: `{ node, load() }`. */
export function instanceList({ api, signal }) {
  const rows = h("div", { class: "relay-rows", role: "list", "aria-label": said.instances });
  const none = emptyState(said.none, said.noneHelp);
  const nothing = h("p", { class: "none", hidden: true }, said.noneOfKind);
  const more = h("p", { class: "none", hidden: true }, said.more(MOST));
  const problem = h("div", {});
  const waiting = h("div", {}, waitingFor(() => load()));
  const unknownRows = h("div", { role: "list", class: "relay-messages" });
  const unknown = h("section", { class: "relay-unknown", hidden: true, "data-testid": "relay-unknown" }, h("h2", {}, said.unknownTitle), h("p", { class: "none" }, said.unknownHelp), unknownRows);
  const state = { filter: "all", instances: undefined };
  const view = segmented(said.show, [["all", said.all], ["open", said.open], ["ended", said.ended]], "all", (value) => ((state.filter = value), show()));
  none.hidden = view.hidden = true;
  const node = h("div", { "data-testid": "relay-list" }, problem, unknown, h("div", { class: "place-bar" }, h("h2", {}, said.instances), view), waiting, none, nothing, rows, more);

  function show() {
    const all = state.instances ?? [];
    const kept = all.filter((instance) => state.filter === "all" || isOver(instance) === (state.filter === "ended"));
    keyed(rows, rowsOf(kept), () => document.createElement("l3-relay-instance"));
    waiting.hidden = state.instances !== undefined || problem.firstChild !== null;
    none.hidden = state.instances === undefined || all.length > 0;
    view.hidden = all.length === 0;
    nothing.hidden = all.length === 0 || kept.length > 0;
    more.hidden = !state.more;
  }

  async function load() {
    try {
      const [{ instances, more: isMore }, { messages }] = await Promise.all([api.relayInstances(MOST), api.relayUnknown()]);
      if (signal.aborted) return;
      Object.assign(state, { instances, more: isMore });
      problem.replaceChildren();
      unknown.hidden = messages.length === 0;
      keyed(unknownRows, messages.map((message) => messageRow(message, true)), makeMessage);
    } catch (error) {
      if (signal.aborted) return;
      problem.replaceChildren(errorState(said.cannot(error.message), load));
    }
    show();
  }
  return { node, load };
}

/** `<l3-relay-instance>`: a row of the list; `data` has an `instance`. */
class RelayInstance extends HTMLElement {
  set data({ instance }) {
    const { id, state, contact, objective, todos, unknown, follow_ups: count, max_follow_ups: most, updated_at: at } = instance;
    const hadFocus = this.contains(document.activeElement);
    this.setAttribute("role", "listitem");
    Object.assign(this.dataset, { instance: id, state });
    const over = todos.filter(({ status }) => status === "done" || status === "skipped").length;
    const link = h("a", { href: addressOf("relay", id), class: "relay-contact" }, h("bdi", {}, contact));
    const foot = [todos.length > 0 && said.todosDone(over, todos.length), `${said.followUps}: ${said.followUpsOf(count, most)}`].filter(Boolean).join(" · ");
    this.replaceChildren(
      h("div", { class: "relay-row-head" }, link, h("span", { class: "relay-state", "data-state": state }, said.states[state] ?? state), h("time", { datetime: at, title: localTime(at) }, shortTime(at))),
      h("p", { class: "relay-objective", dir: "auto" }, exactNodes(objective)),
      h("p", { class: "relay-note" }, foot, unknown > 0 ? h("span", { class: "relay-warn" }, ` · ${said.unknownCount(unknown)}`) : ""),
    );
    if (hadFocus) link.focus();
  }
}
customElements.define("l3-relay-instance", RelayInstance);
