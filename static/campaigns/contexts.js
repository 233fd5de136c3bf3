// The approval contexts of a campaign: how many are left, until when, and how to give one and take
// it back.

import { h, keyed } from "../core/dom.js";
import { serverNow } from "../core/server-clock.js";
import { shortTime } from "../core/times.js";
import { button } from "../ui/button.js";
import { allowForm } from "./allow.js";
import { listSection, makePart, partRows } from "./part.js";
import { campaigns as said } from "./words.js";

/** The section: `{ node, put(contexts, over) }`. */
export function contextsSection({ api, id, order, load, announce }) {
  const { node, list, none } = listSection(said.contexts, said.noContexts, "campaigns-contexts");
  const revoke = (context) => order(async () => (await api.revokeContext(id, context), announce(said.revoked)));
  const allow = allowForm({ api, id, load, announce });
  node.append(allow.node);
  const put = (contexts, over = false) => {
    allow.node.hidden = over;
    none.hidden = contexts.length > 0;
    const now = serverNow();
    const all = contexts.map((context) => ({ ...context, counts: !context.void && context.uses_left > 0 && Date.parse(context.until) > now }));
    keyed(list, partRows(all.toReversed(), ({ id: context }) => context, (context, host) => contextRow(context, host, revoke)), makePart);
  };
  return { node, put };
}

function contextRow({ id, kind, artifact_type: type, uses_left: left, until, counts }, host, revoke) {
  host.dataset.context = id;
  const name = [said.contextKinds[kind] ?? kind, type].filter(Boolean).join(": ");
  return [
    h("div", { class: "campaigns-head" }, h("strong", {}, name), h("span", { class: "campaigns-note" }, counts ? said.contextLeft(left, shortTime(until)) : said.contextOver)),
    counts ? h("div", { class: "campaigns-deeds" }, button(said.revoke, () => revoke(id), { kind: "danger", "aria-label": said.revokeOf(name), "data-part": "revoke", "data-testid": "campaigns-revoke" })) : undefined,
  ];
}
