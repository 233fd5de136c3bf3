// The heartbeat, what it did and does next: things that are due wake the assistant by themselves.

import { h } from "../core/dom.js";
import { localTime, shortTime } from "../core/times.js";
import { button } from "../ui/button.js";
import { saidNodes } from "../ui/said.js";
import { errorState, waitingFor } from "../ui/states.js";
import { dueOf, placeOfDone } from "./due.js";
import { zone } from "./edit.js";
import { heartbeat as said } from "./words.js";

/** Shown of each list until a person asks for more. */
const FIRST = 5;

/** The section: `{ node, load() }`. */
export function heartbeatSection(api, signal) {
  const body = h("div", { class: "heartbeat-body" }, waitingFor(load, 2));
  const node = h("section", { class: "heartbeat", "data-testid": "heartbeat" }, h("h2", {}, said.title), h("p", { class: "none" }, said.help(zone())), body);
  const opened = new Set();
  let shown = "";
  async function load() {
    let report;
    try {
      report = await api.heartbeat();
    } catch (error) {
      if (signal.aborted) return;
      shown = "";
      body.replaceChildren(errorState(said.cannot(error.message), load));
      return;
    }
    const text = JSON.stringify(report);
    // A row that says the same stays as it is: somebody may be reading it, or have the focus in it.
    if (signal.aborted || text === shown) return;
    shown = text;
    body.replaceChildren(list("next", said.next, said.nothingNext, report.next, nextRow), list("did", said.did, said.nothingDid, report.did, didRow));
  }

  function list(kind, title, none, entries, row) {
    const items = h("ol", { class: "beats", "data-testid": `heartbeat-${kind}` });
    const show = (all) => items.replaceChildren(...(all ? entries : entries.slice(0, FIRST)).map(row));
    show(opened.has(kind));
    const open = (more) => {
      opened.add(kind);
      more.hidden = true;
      show(true);
      items.children[FIRST]?.querySelector("a")?.focus();
    };
    const more = button(said.all(entries.length), open, { kind: "quiet", hidden: entries.length <= FIRST || opened.has(kind) });
    return h("div", { class: "beat-list" }, h("h3", {}, title), entries.length > 0 ? items : h("p", { class: "none" }, none), more);
  }
  return { node, load };
}

function nextRow(due) {
  const { text, place } = dueOf(due);
  return h("li", {}, timeNode(due.at), h(place ? "a" : "span", { href: place, dir: "auto" }, text));
}

function didRow(done) {
  return h("li", {}, timeNode(done.at), h("a", { href: placeOfDone(done), dir: "auto" }, saidNodes(done.said)));
}

const timeNode = (at) => h("time", { datetime: at, title: localTime(at) }, shortTime(at));
