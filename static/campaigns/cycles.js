// Cycle by cycle: what was proposed, the verdict, the effect, and what it proved.

import { h, keyed } from "../core/dom.js";
import { localTime, shortTime } from "../core/times.js";
import { exactNodes } from "../ui/exact.js";
import { listSection, makePart, pairs, partRows } from "./part.js";
import { argumentLines, cyclesOf, effectWords } from "./rows.js";
import { campaigns as said } from "./words.js";

/** So many are shown. */
const MOST = 30;

/** The section: `{ node, put(events, audit) }`, both logs with the oldest line first. */
export function cyclesSection() {
  const { node, list, none } = listSection(said.cyclesTitle, said.noCycles, "campaigns-cycles");
  const put = (events, audit) => {
    const cycles = cyclesOf(events, audit).slice(0, MOST);
    none.hidden = cycles.length > 0;
    keyed(list, partRows(cycles, ({ turn }) => turn, cycleRow), makePart);
  };
  return { node, put };
}

function cycleRow({ turn, at, ended, requests, refused, calls, proposal, came, next, evidence }, host) {
  host.dataset.turn = turn;
  const head = h("div", { class: "campaigns-head" }, h("strong", {}, said.turn(turn)), h("span", { class: "campaigns-note" }, said.requests(requests), ended ? "" : ` · ${said.running}`), at ? h("time", { datetime: at, title: localTime(at) }, shortTime(at)) : "");
  const verdicts = calls.map(({ verdict, refusal }) => [verdict, refusal].filter(Boolean).join(": "));
  const proven = evidence.map(({ task, effect, events }) => said.taskProven(task, effectWords(effect), events));
  const table = pairs([
    ...refused.map((why) => [said.refused, why]),
    [said.proposal, proposal ?? (ended ? said.noProposal : undefined)],
    ...verdicts.map((verdict) => [said.verdict, verdict]),
    [said.effect, came],
    ...proven.map((text) => [said.evidence, text]),
    [said.next, next],
  ]);
  const proposed = calls.map((call) => argumentLines(call.arguments)).filter((lines) => lines !== "");
  const details = proposed.map((lines) => h("details", { "data-part": "arguments" }, h("summary", {}, said.proposed), h("pre", { class: "plain", tabindex: "0", role: "region", "aria-label": said.proposed, dir: "auto" }, exactNodes(lines))));
  return [head, table, ...details];
}
