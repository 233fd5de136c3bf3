// Activity: what happened in all conversations, one turn step by step (`#activity/turn/12`), and
// what was used up (`#activity/usage`).

import { addressOf } from "../core/address.js";
import { withSite } from "../core/api-site.js";
import { h } from "../core/dom.js";
import { styles } from "../core/styles.js";
import { words } from "../core/words.js";
import { emptyState } from "../ui/states.js";
import { eventsView } from "./events.js";
import { replayView } from "./replay.js";
import { usageView } from "./usage.js";
import { said } from "./words.js";

const VIEWS = { events: eventsView, usage: usageView, turn: replayView };
/** The parts with an entry of their own. */
const PARTS = [
  ["events", said.events, addressOf("activity")],
  ["usage", said.usage, addressOf("activity", "usage")],
  ["approvals", said.approvals, addressOf("approvals")],
];

let here;

/** Puts the activity into `host`. */
export async function mount(host, { session: given, announce }) {
  const session = withSite(given);
  await styles(import.meta.url, "../ui/code.css", "../ui/approval.css", "../ui/bars.css", "activity.css");
  const links = PARTS.map(([, text, href]) => h("a", { href }, text));
  const view = h("div", { class: "activity-view" });
  const sheet = h("div", { class: "sheet" }, h("nav", { class: "parts", "aria-label": said.parts }, links), view);
  host.append(sheet);
  here = { session, announce, links, view, sheet };
}

/** Shows the part that the address names. */
export function show([part = "events", ...rest]) {
  if (!here) return;
  here.leave?.abort();
  here.leave = new AbortController();
  const { session, announce, links, view, sheet } = here;
  PARTS.forEach(([id], index) => {
    if (id === part) links[index].setAttribute("aria-current", "page");
    else links[index].removeAttribute("aria-current");
  });
  sheet.scrollTop = 0;
  const make = Object.hasOwn(VIEWS, part) ? VIEWS[part] : undefined;
  if (make) view.replaceChildren(make({ session, announce, gone: here.leave.signal, parts: rest }));
  else view.replaceChildren(emptyState(words.places.unknown(location.hash), words.places.unknownHelp));
}

/** Takes the activity out. */
export function unmount() {
  here?.leave?.abort();
  here = undefined;
}
