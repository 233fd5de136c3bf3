// Both logs of a campaign, the newest line first: every call, request and refusal, and every
// change.

import { h, keyed } from "../core/dom.js";
import { oneAtATime } from "../core/one-at-a-time.js";
import { localTime, shortTime } from "../core/times.js";
import { exactNodes } from "../ui/exact.js";
import { filterBar } from "../ui/filters.js";
import { problemLine } from "../ui/section.js";
import { DEEPEST, linesAt, olderButton } from "./older.js";
import { listSection, makePart, partRows } from "./part.js";
import { campaigns as said } from "./words.js";

/** So many are shown, times the depth to which a person looks back. */
const MOST = 50;

/**
 * The section: `{ node, put(events, audit, back, kinds) }`, both with the oldest line first, and the kinds of lines that each has. `older()` looks
 * further back. Lines of one kind are asked of the server: they may be older than all that is loaded.
 */
export function logsSection({ api, id, signal, older }) {
  const { node, list, none } = listSection(said.logs, said.noLines, "campaigns-logs");
  const { line, say } = problemLine();
  const note = h("p", { class: "campaigns-note", hidden: true });
  const more = olderButton(older, said.logs, "logs");
  const state = { audit: [], events: [], back: { depth: 1 }, kinds: {} };
  const optionsOf = (kinds) => [["", said.allKinds], ...[...new Set(kinds)].toSorted().map((kind) => [kind, kind])];
  const filters = filterBar({
    label: said.logs,
    fields: [
      { name: "log", label: said.log, options: [["", said.audit], ["events", said.events]] },
      { name: "kind", label: said.kind, options: optionsOf([]) },
    ],
    clear: said.clear,
    changed: () => void look(),
  });
  list.before(filters.node, line);
  node.append(note, more);

  function offer(log) {
    const options = optionsOf([...(state.kinds[log] ?? []), ...state[log].map(({ kind }) => kind)]);
    const told = options.join();
    if (told !== state.offered) filters.offer("kind", options);
    state.offered = told;
  }

  const look = oneAtATime(async () => {
    const log = filters.values().log || "audit";
    offer(log);
    const { kind } = filters.values();
    const { depth, isCut } = state.back;
    if (kind === "") {
      say(undefined);
      show(log, state[log], depth, isCut);
      return;
    }
    try {
      const found = await api.campaignLog(id, log, kind, linesAt(depth));
      if (signal.aborted) return;
      say(undefined);
      show(log, found, depth, found.length >= linesAt(depth));
    } catch (error) {
      if (!signal.aborted) say(error.message);
    }
  });

  function show(log, lines, depth, isCut) {
    const most = MOST * depth;
    none.hidden = lines.length > 0;
    note.hidden = lines.length <= most;
    note.textContent = said.newest(most);
    more.hidden = depth === DEEPEST || (lines.length <= most && !isCut);
    keyed(list, partRows(lines.slice(-most).toReversed(), (each) => `${log} ${each.id}`, lineRow), makePart);
  }
  const put = (events, audit, back, kinds) => {
    Object.assign(state, { events, audit, back, kinds });
    void look();
  };
  return { node, put };
}

function lineRow({ timestamp, kind, payload }, host) {
  host.dataset.kindOfLine = kind;
  return h("details", { "data-part": "line" }, h("summary", { "data-part": "open" }, h("span", { class: "campaigns-kind" }, kind), h("time", { datetime: timestamp, title: localTime(timestamp) }, shortTime(timestamp))), h("pre", { class: "plain", tabindex: "0", role: "group", "aria-label": kind, dir: "ltr" }, exactNodes(JSON.stringify(payload, null, 1))));
}
