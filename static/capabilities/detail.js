// One capability: what it is for and may do, a form to try it, its source, its versions and its
// tests; and the switches of its life.

import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";
import { exactBlock, exactNodes, hiddenWarning } from "../ui/exact.js";
import { saidNodes } from "../ui/said.js";
import { button } from "../ui/button.js";
import { tabs } from "../ui/tabs.js";
import { actions } from "./actions.js";
import { figures } from "./card.js";
import { purposeNode, purposeOf } from "./purpose.js";
import { testsPanel } from "./tests.js";
import { tryPanel } from "./try.js";
import { versionsPanel } from "./versions.js";
import { capabilities as said } from "./words.js";

/**
 * The detail: `{ node, open(name, version), nowhere(), told(entries), close() }`. `go` goes to an address; `told` hears of the list, so that what
 * changes elsewhere is seen here.
 */
export function capabilityDetail({ session, go, announce, signal }) {
  const node = h("div", { class: "capability-detail", "data-testid": "capability-detail" });
  const { api } = session;
  let asked;
  let shown;

  async function open(name, version) {
    const mine = { name, version };
    const isOther = asked?.name !== name;
    asked = mine;
    if (isOther) node.replaceChildren(waitingFor(() => open(name, version)));
    try {
      const capability = await api.capabilityVersion(name, version);
      if (signal.aborted || asked !== mine) return;
      shown = capability;
      build(capability);
    } catch (error) {
      if (signal.aborted || asked !== mine) return;
      shown = undefined;
      node.replaceChildren(errorState(said.cannotOpen(name, error.message), () => open(name, version)));
    }
  }

  function build(capability) {
    const { name, version, live, state, description } = capability;
    const isLive = version === live;
    const { rest } = purposeOf(description ?? "");
    const had = node.contains(document.activeElement) ? document.activeElement : undefined;
    const word = !isLive ? said.earlier(live) : state === "disabled" ? said.disabled : said.live;
    const head = h("div", { class: "detail-head" }, h("h2", { tabindex: "-1" }, h("code", {}, name)), h("span", { class: "version" }, `v${version}`), h("span", { class: "off", "data-testid": "capability-state" }, word));
    node.dataset.capability = name;
    node.dataset.enabled = String(state !== "disabled");
    note = h("div", { role: "status" });
    const reload = () => (session.lists.load("capabilities"), open(name, asked.version));
    const bar = actions({ api, capability, reload, go, announce });
    const versions = versionsPanel({ api, capability, go, makeLive: bar.makeLive, signal });
    const tried = isLive ? [[said.try, tryPanel({ api, capability, signal, announce, changed: () => session.lists.load("capabilities") })]] : [];
    const panels = [...tried, [said.source, sourcePanel(capability)], [said.versions(capability.versions.length), versions.node], [said.tests(capability.tests.length), testsPanel({ api, capability, announce, signal })], [said.may, powers(capability)], ...(rest ? [[said.forAssistant, h("p", { class: "capability-said", dir: "auto" }, saidNodes(rest))]] : [])];
    stats = h("div", { class: "detail-figures" });
    node.replaceChildren(head, purposeNode(description), stats, bar.node, note, tabs(name, panels, (panel) => panel === versions.node && versions.shown()));
    if (entry?.name === name) stats.replaceChildren(figures(entry.calls));
    // The control that had the focus, if it is there still.
    if (had) (node.querySelector(`[data-action="${had.dataset.action}"]`) ?? head.firstElementChild).focus();
  }

  let note;
  let stats;
  let entry;
  /** The list's words of this one: figures, and whether another version is live meanwhile. */
  function told(entries) {
    const found = entries.find(({ name }) => name === asked?.name);
    if (!found || found === entry) return;
    entry = found;
    if (!shown || !stats) return;
    stats.replaceChildren(figures(found.calls));
    if (found.version !== shown.live && asked.version === undefined) {
      // Text that a person reads or fills in does not move by itself.
      const look = button(said.showVersion(found.version), () => open(found.name), { kind: "quiet" });
      note.replaceChildren(h("p", { class: "order-line" }, said.newVersion(found.version), " ", look));
    } else if (found.enabled === (shown.state === "disabled")) open(found.name, asked.version);
  }

  const close = () => {
    asked = shown = entry = undefined;
    node.replaceChildren();
  };
  /** The address names no version. */
  const nowhere = () => {
    close();
    node.append(emptyState(words.places.unknown(location.hash), words.places.unknownHelp));
  };
  return { node, open, nowhere, told, close };
}

function sourcePanel({ name, language, source }) {
  const block = exactBlock(source, language === "javascript" ? language : "", said.sourceOf(name), true);
  return h("div", { "data-testid": "source" }, hiddenWarning([source]) ?? "", block);
}

function powers({ grants_in_words: sentences }) {
  if (sentences.length === 0) return h("div", {}, h("p", { class: "none" }, said.reachesNothing));
  return h("div", {}, h("p", {}, said.mayHelp), h("ul", { class: "grant-list" }, sentences.map((sentence) => h("li", { dir: "auto" }, exactNodes(sentence)))));
}
