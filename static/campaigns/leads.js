// The leads of a campaign, the best first: how each score came about, the status that a person
// gives, and the import of a file.

import { h, keyed } from "../core/dom.js";
import { button } from "../ui/button.js";
import { select } from "../ui/forms.js";
import { problemLine } from "../ui/section.js";
import { listSection, makePart, partRows, stateWord } from "./part.js";
import { badLines, baseOf, safeAddress } from "./rows.js";
import { campaigns as said } from "./words.js";

/** So many are shown. */
const MOST = 50;

/** The section: `{ node, put(leads, counts, over) }`. In a campaign that is over they are only shown. */
export function leadsSection({ api, id, order, load, announce }) {
  const { node, list, none } = listSection(said.leads, said.noLeads, "campaigns-leads");
  const count = h("p", { class: "campaigns-note" });
  const more = h("p", { class: "campaigns-note", hidden: true });
  const bring = importer({ api, id, load, announce });
  list.before(bring, count);
  node.append(more);
  const set = (lead, status) => order(async () => announce((await api.setLead(id, lead, status)).told));
  const put = (leads, counts = {}, over = false) => {
    bring.hidden = over;
    none.hidden = leads.length > 0;
    count.hidden = leads.length === 0;
    count.textContent = Object.entries(counts).map(([state, all]) => said.leadCount(said.leadStates[state] ?? state, all)).join(" · ");
    more.hidden = leads.length <= MOST;
    more.textContent = said.best(MOST, leads.length);
    const rows = leads.slice(0, MOST).map((lead) => ({ ...lead, over }));
    keyed(list, partRows(rows, (lead) => lead.id, (lead, host) => leadRow(lead, host, set)), makePart);
  };
  return { node, put };
}

/** The chooser of a CSV file. Its faults are said line by line; then nothing was imported. */
function importer({ api, id, load, announce }) {
  const { line, say } = problemLine();
  const bad = h("ul", { class: "campaigns-bad", hidden: true, "data-testid": "campaigns-bad" });
  const came = h("p", { class: "campaigns-note", role: "status", hidden: true, "data-testid": "campaigns-imported" });
  const file = h("input", { type: "file", accept: ".csv,text/csv", hidden: true, "data-testid": "campaigns-file" });
  const choose = button(said.importLeads, () => file.click(), { icon: "plus", "data-testid": "campaigns-import" });

  function tell(problem, lines = [], done = "") {
    say(problem);
    bad.hidden = lines.length === 0;
    bad.replaceChildren(...lines.map((text) => h("li", { dir: "auto" }, text)));
    came.hidden = done === "";
    came.textContent = done;
  }
  async function read() {
    const [chosen] = file.files;
    file.value = "";
    if (!chosen) return;
    tell();
    try {
      const { told } = await api.importLeads(id, await textOf(chosen));
      tell(undefined, [], `${chosen.name}: ${told}`);
      announce(told);
      await load();
    } catch (error) {
      const { about, lines } = badLines(error.message);
      tell(`${chosen.name}: ${about}`, lines);
    }
  }
  file.addEventListener("change", read);
  return h("div", { class: "campaigns-import" }, h("div", { class: "campaigns-deeds" }, choose, file), h("p", { class: "campaigns-note" }, said.importHelp), line, bad, came);
}

/** The text of a file. One that is not UTF-8 is refused: its names would be kept wrongly. */
async function textOf(file) {
  const bytes = await file.arrayBuffer().catch(() => {
    throw new Error(said.noRead);
  });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(said.noUtf8);
  }
}

function leadRow({ id, full_name: name, profile_url: url, weight_score: score, status, attributes = {}, scored, over }, host, set) {
  host.dataset.lead = id;
  const address = safeAddress(url);
  const who = address ? h("a", { href: address, rel: "noopener noreferrer nofollow", target: "_blank", class: "campaigns-name", "data-part": "name", dir: "auto" }, name) : h("strong", { dir: "auto" }, name);
  const points = (scored?.points ?? []).map(({ rule, weight }) => said.points(rule, weight));
  const facts = Object.entries(attributes).map(([key, value]) => `${key}: ${value}`);
  const how = scored ? [said.scoreBy(scored.version, scored.key), ...(baseOf(scored) === 0 ? [] : [said.base(baseOf(scored))]), ...points, ...(scored.sum === score ? [] : [said.clamped(scored.sum, score)])] : [said.unscored];
  return [
    h("div", { class: "campaigns-head" }, who, over ? stateWord(status, said.leadStates[status] ?? status) : statusChoice({ id, name, status }, set)),
    h("details", { "data-part": "score" }, h("summary", { "data-part": "open" }, said.score(score)), h("ul", {}, [...how, ...facts].map((text) => h("li", { dir: "auto" }, text)))),
  ];
}

function statusChoice({ id, name, status }, set) {
  const choice = select(Object.entries(said.leadStates), status, async (wanted) => {
    await set(id, wanted);
    // If it was refused the row is as it was, and so is the choice.
    if (choice.isConnected) choice.value = status;
  });
  choice.classList.add("campaigns-status");
  for (const [key, value] of Object.entries({ "aria-label": said.statusOf(name), "data-part": "status", "data-testid": "campaigns-lead-status" })) choice.setAttribute(key, value);
  return choice;
}
