// The leads of a campaign, the best first, each with how its score came about.

import { h, keyed } from "../core/dom.js";
import { listSection, makePart, partRows, stateWord } from "./part.js";
import { safeAddress } from "./rows.js";
import { campaigns as said } from "./words.js";

/** So many are shown. */
const MOST = 50;

/** The section: `{ node, put(leads, counts) }`. */
export function leadsSection() {
  const { node, list, none } = listSection(said.leads, said.noLeads, "campaigns-leads");
  const count = h("p", { class: "campaigns-note" });
  const more = h("p", { class: "campaigns-note", hidden: true });
  list.before(count);
  node.append(more);
  const put = (leads, counts = {}) => {
    none.hidden = leads.length > 0;
    count.hidden = leads.length === 0;
    count.textContent = Object.entries(counts).map(([state, all]) => said.leadCount(said.leadStates[state] ?? state, all)).join(" · ");
    more.hidden = leads.length <= MOST;
    more.textContent = said.best(MOST, leads.length);
    keyed(list, partRows(leads.slice(0, MOST), ({ id }) => id, leadRow), makePart);
  };
  return { node, put };
}

function leadRow({ id, full_name: name, profile_url: url, weight_score: score, status, attributes = {}, scored }, host) {
  host.dataset.lead = id;
  const address = safeAddress(url);
  const who = address ? h("a", { href: address, rel: "noopener noreferrer nofollow", target: "_blank", class: "campaigns-name", "data-part": "name", dir: "auto" }, name) : h("strong", { dir: "auto" }, name);
  const points = (scored?.points ?? []).map(({ rule, weight }) => said.points(rule, weight));
  const facts = Object.entries(attributes).map(([key, value]) => `${key}: ${value}`);
  const how = scored ? [said.scoreBy(scored.version), ...points, ...(scored.sum === score ? [] : [said.clamped(scored.sum, score)])] : [said.unscored];
  return [
    h("div", { class: "campaigns-head" }, who, stateWord(status, said.leadStates[status] ?? status)),
    h("details", { "data-part": "score" }, h("summary", { "data-part": "open" }, said.score(score)), h("ul", {}, [...how, ...facts].map((text) => h("li", { dir: "auto" }, text)))),
  ];
}
