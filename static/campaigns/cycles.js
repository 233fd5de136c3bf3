// Cycle by cycle: what was proposed, the verdict, the effect, and what it proved.

import { h, keyed } from "../core/dom.js";
import { localTime, shortTime } from "../core/times.js";
import { exactNodes } from "../ui/exact.js";
import { DEEPEST, olderButton } from "./older.js";
import { listSection, makePart, pairs, partRows } from "./part.js";
import { proofWords, verdictWords } from "./proof.js";
import { argumentLines, cyclesOf } from "./rows.js";
import { campaigns as said } from "./words.js";

/** So many are shown, times the depth to which a person looks back. */
const MOST = 30;

/** The section: `{ node, put(events, audit, back) }`, both logs with the oldest line first. `older()` looks further back. */
export function cyclesSection({ older }) {
  const { node, list, none } = listSection(said.cyclesTitle, said.noCycles, "campaigns-cycles");
  const more = olderButton(older, said.cyclesTitle, "cycles");
  node.append(more);
  const put = (events, audit, { depth, isCut }) => {
    const all = cyclesOf(events, audit);
    const cycles = all.slice(0, MOST * depth);
    more.hidden = depth === DEEPEST || (cycles.length === all.length && !isCut);
    none.hidden = cycles.length > 0;
    keyed(list, partRows(cycles, ({ turn }) => turn, cycleRow), makePart);
  };
  return { node, put };
}

function cycleRow({ turn, at, ended, requests, refused, calls, proposal, came, next, evidence }, host) {
  host.dataset.turn = turn;
  const head = h("div", { class: "campaigns-head" }, h("strong", {}, said.turn(turn)), h("span", { class: "campaigns-note" }, said.requests(requests), ended ? "" : ` · ${said.running}`), at ? h("time", { datetime: at, title: localTime(at) }, shortTime(at)) : "");
  const verdicts = calls.map(verdictWords);
  const proven = evidence.map((proof) => said.taskProven(proof.task, proofWords(proof)));
  const table = pairs([
    ...refused.map((why) => [said.refused, why]),
    [said.proposal, proposal ?? (ended ? said.noProposal : undefined)],
    ...verdicts.map((verdict) => [said.verdict, verdict]),
    [said.effect, came],
    ...proven.map((text) => [said.evidence, text]),
    [said.next, next],
  ]);
  const proposed = calls.map((call) => argumentLines(call.arguments)).filter((lines) => lines !== "");
  const details = proposed.map((lines) => h("details", { "data-part": "arguments" }, h("summary", {}, said.proposed), h("pre", { class: "plain", tabindex: "0", role: "group", "aria-label": said.proposed, dir: "auto" }, exactNodes(lines))));
  return [head, table, ...details];
}
