// Both logs of a campaign, the newest line first: every call, request and refusal, and every change.

import { h, keyed } from "../core/dom.js";
import { localTime, shortTime } from "../core/times.js";
import { exactNodes } from "../ui/exact.js";
import { filterBar } from "../ui/filters.js";
import { listSection, makePart, partRows } from "./part.js";
import { campaigns as said } from "./words.js";

/** So many are shown. */
const MOST = 50;

/** The section: `{ node, put(events, audit) }`, both with the oldest line first. */
export function logsSection() {
  const { node, list, none } = listSection(said.logs, said.noLines, "campaigns-logs");
  const more = h("p", { class: "campaigns-note", hidden: true }, said.newest(MOST));
  const state = { audit: [], events: [] };
  const kindsOf = (lines) => [["", said.allKinds], ...[...new Set(lines.map(({ kind }) => kind))].toSorted().map((kind) => [kind, kind])];
  const filters = filterBar({
    label: said.logs,
    fields: [
      { name: "log", label: said.log, options: [["", said.audit], ["events", said.events]] },
      { name: "kind", label: said.kind, options: kindsOf([]) },
    ],
    clear: said.clear,
    changed: () => show(),
  });
  list.before(filters.node);
  node.append(more);

  function show() {
    const { log } = filters.values();
    const lines = state[log || "audit"];
    const kinds = kindsOf(lines);
    const told = kinds.join();
    if (told !== state.kinds) filters.offer("kind", kinds);
    state.kinds = told;
    const { kind } = filters.values();
    const kept = lines.filter((line) => !kind || line.kind === kind);
    none.hidden = kept.length > 0;
    more.hidden = kept.length <= MOST;
    keyed(list, partRows(kept.slice(-MOST).toReversed(), ({ id }) => `${log} ${id}`, lineRow), makePart);
  }
  const put = (events, audit) => {
    Object.assign(state, { events, audit });
    show();
  };
  return { node, put };
}

function lineRow({ timestamp, kind, payload }, host) {
  host.dataset.kindOfLine = kind;
  return h("details", { "data-part": "line" }, h("summary", { "data-part": "open" }, h("span", { class: "campaigns-kind" }, kind), h("time", { datetime: timestamp, title: localTime(timestamp) }, shortTime(timestamp))), h("pre", { class: "plain", tabindex: "0", role: "region", "aria-label": kind, dir: "ltr" }, exactNodes(JSON.stringify(payload, null, 1))));
}
