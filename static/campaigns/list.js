// All campaigns, the newest first, and the form that makes one.

import { addressOf } from "../core/address.js";
import { h, keyed } from "../core/dom.js";
import { localTime, shortTime } from "../core/times.js";
import { button } from "../ui/button.js";
import { exactNodes } from "../ui/exact.js";
import { field, input } from "../ui/forms.js";
import { saidAtField } from "../ui/refused.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";
import { makePart, partRows, stateWord } from "./part.js";
import { tasksOf, whyOf } from "./rows.js";
import { campaigns as said } from "./words.js";

/** The list: `{ node, load() }`. `made(id)` is told of a new one. */
export function campaignList({ api, signal, made }) {
  const rows = h("div", { class: "campaigns-list", role: "list", "aria-label": said.list });
  const none = emptyState(said.none, said.noneHelp);
  none.hidden = true;
  const problem = h("div", {});
  const waiting = h("div", {}, waitingFor(() => load()));
  const node = h("div", { "data-testid": "campaigns-list" }, problem, waiting, none, rows, makeForm({ api, made }));

  async function load() {
    try {
      const { campaigns } = await api.campaigns();
      if (signal.aborted) return;
      problem.replaceChildren();
      waiting.hidden = true;
      none.hidden = campaigns.length > 0;
      keyed(rows, partRows(campaigns, ({ id }) => id, campaignRow), makePart);
    } catch (error) {
      if (signal.aborted) return;
      waiting.hidden = true;
      problem.replaceChildren(errorState(said.cannot(error.message), load));
    }
  }
  return { node, load };
}

function campaignRow(campaign, node) {
  const { id, name, status, cycles, updated_at: at } = campaign;
  node.dataset.campaign = id;
  const why = whyOf(campaign);
  return [
    h("div", { class: "campaigns-head" }, h("a", { href: addressOf("campaigns", id), class: "campaigns-name", "data-part": "name" }, h("bdi", {}, exactNodes(name))), stateWord(status, said.states[status] ?? status), h("time", { datetime: at, title: localTime(at) }, shortTime(at))),
    h("p", { class: "campaigns-note" }, `${said.title(id)} · ${said.cycles(cycles)}`),
    why ? h("p", { class: "campaigns-note", dir: "auto" }, exactNodes(why)) : undefined,
  ];
}

function makeForm({ api, made }) {
  const name = input({ maxlength: "200", "data-testid": "campaigns-name" });
  const tasks = h("textarea", { class: "input campaigns-tasks", rows: "5", dir: "auto", spellcheck: "false", "data-testid": "campaigns-tasks" });
  const named = field(said.name, name);
  const listed = field(said.tasksLabel, tasks, said.tasksHelp);
  const make = async () => {
    named.wrong(undefined);
    listed.wrong(undefined);
    if (name.value.trim() === "") {
      named.wrong(said.noName);
      name.focus();
      return;
    }
    try {
      const { id } = await api.makeCampaign(name.value.trim(), tasksOf(tasks.value));
      name.value = tasks.value = "";
      made(id);
    } catch (error) {
      const why = error instanceof SyntaxError ? said.noJson : error.message;
      if (!saidAtField(error, { name: named, tasks: listed })) listed.wrong(why);
    }
  };
  const go = button(said.make, make, { kind: "primary", "data-testid": "campaigns-make" });
  const form = h("form", { class: "campaigns-form" }, h("h2", {}, said.make), named.node, listed.node, go);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go.click();
  });
  return form;
}
