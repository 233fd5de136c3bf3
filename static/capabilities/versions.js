// The versions of a capability: which one is live, when each was written, and what differs between
// two.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { localTime, shortTime } from "../core/times.js";
import { button } from "../ui/button.js";
import { exactDiff } from "../ui/exact.js";
import { field, select } from "../ui/forms.js";
import { errorState, waitingFor } from "../ui/states.js";
import { capabilities as said } from "./words.js";

/** `{ node, shown() }`: the differences are asked for when a person first sees the panel. */
export function versionsPanel({ api, capability, makeLive, signal }) {
  const { name, version, live, versions } = capability;
  const all = versions.toReversed();
  const list = h("ol", { class: "version-list" }, all.map(row));
  const host = h("div", { "data-testid": "diff" });
  const numbers = all.map((each) => each.version);
  let to = version;
  let from = numbers.find((each) => each < version) ?? numbers.find((each) => each !== version);
  let begun = false;

  function row({ version: number, created_at: at }) {
    const link = h("a", { href: addressOf("capabilities", name, `v${number}`), "aria-current": number === version ? "page" : undefined }, said.version(number));
    const time = h("time", { datetime: at, title: localTime(at) }, shortTime(at));
    const way = number === live ? h("span", { class: "off" }, said.live) : button(said.makeLive, () => makeLive(number), { kind: "quiet", "aria-label": said.makeLiveOf(number) });
    return h("li", { "data-version": number }, link, time, way);
  }

  async function load() {
    host.replaceChildren(waitingFor(load, 3));
    const mine = `${from} ${to}`;
    try {
      const { diff } = await api.capabilityDiff(name, from, to);
      if (signal.aborted || mine !== `${from} ${to}`) return;
      host.replaceChildren(diff === "" ? h("p", { class: "none" }, said.same) : exactDiff(diff, said.diffOf(from, to)));
    } catch (error) {
      if (!signal.aborted) host.replaceChildren(errorState(error.message, load));
    }
  }

  const shown = () => {
    if (begun || from === undefined) return;
    begun = true;
    load();
  };
  const choice = (label, value, changed) => field(label, select(numbers.map((each) => [each, said.version(each)]), value, (each) => (changed(Number(each)), load()))).node;
  const compare = from === undefined ? h("p", { class: "none" }, said.oneVersion) : h("div", {}, h("h3", {}, said.compare), h("div", { class: "compare" }, choice(said.from, from, (each) => (from = each)), choice(said.to, to, (each) => (to = each))), host);
  return { node: h("div", {}, list, compare), shown };
}
