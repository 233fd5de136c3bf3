// Both logs of a campaign, the newest line first: every call, request and refusal, and every change.

import { h, keyed } from "../core/dom.js";
import { localTime, shortTime } from "../core/times.js";
import { exactNodes } from "../ui/exact.js";
import { filterBar } from "../ui/filters.js";
import { DEEPEST, olderButton } from "./older.js";
import { listSection, makePart, partRows } from "./part.js";
import { campaigns as said } from "./words.js";

/** So many are shown, times the depth to which a person looks back. */
const MOST = 50;

/** The section: `{ node, put(events, audit, back) }`, both with the oldest line first. `older()` looks further back. */
export function logsSection({ older }) {
  const { node, list, none } = listSection(said.logs, said.noLines, "campaigns-logs");
  const note = h("p", { class: "campaigns-note", hidden: true });
  const more = olderButton(older, said.logs, "logs");
  const state = { audit: [], events: [], back: { depth: 1 } };
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
  node.append(note, more);

  function show() {
    const { log } = filters.values();
    const lines = state[log || "audit"];
    const kinds = kindsOf(lines);
    const told = kinds.join();
    if (told !== state.kinds) filters.offer("kind", kinds);
    state.kinds = told;
    const { kind } = filters.values();
    const kept = lines.filter((line) => !kind || line.kind === kind);
    const { depth, isCut } = state.back;
    const most = MOST * depth;
    none.hidden = kept.length > 0;
    note.hidden = kept.length <= most;
    note.textContent = said.newest(most);
    more.hidden = depth === DEEPEST || (kept.length <= most && !isCut);
    keyed(list, partRows(kept.slice(-most).toReversed(), ({ id }) => `${log} ${id}`, lineRow), makePart);
  }
  const put = (events, audit, back) => {
    Object.assign(state, { events, audit, back });
    show();
  };
  return { node, put };
}

function lineRow({ timestamp, kind, payload }, host) {
  host.dataset.kindOfLine = kind;
  return h("details", { "data-part": "line" }, h("summary", { "data-part": "open" }, h("span", { class: "campaigns-kind" }, kind), h("time", { datetime: timestamp, title: localTime(timestamp) }, shortTime(timestamp))), h("pre", { class: "plain", tabindex: "0", role: "region", "aria-label": kind, dir: "ltr" }, exactNodes(JSON.stringify(payload, null, 1))));
}
