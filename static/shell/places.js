// The places of the page. A new one is a line here and a folder with an `index.js` that exports
// `mount(host, context)` and `unmount()`, and if it has addresses below its own, `show(parts)`.
// `keep` leaves it in the page when a person goes elsewhere. One that stands `under` another has no
// entry of its own in the rail. Those that are `open` are for every user; the others are the
// owner's.

import { askedByCharacters } from "../core/characters.js";
import { waitingEverywhere } from "../core/workspace.js";
import { words } from "../core/words.js";

export const PLACES = [
  { id: "chat", title: words.places.chat, icon: "chat", order: 1, badge: (workspace) => waitingEverywhere(workspace) - askedByCharacters(workspace), keep: true, load: () => import("../chat/index.js") },
  { id: "approvals", title: words.places.approvals, icon: "approvals", order: 1.5, under: "chat", open: true, load: () => import("../approvals/index.js") },
  { id: "assistant", title: words.places.assistant, icon: "assistant", order: 1.7, open: true, badge: askedByCharacters, load: () => import("../assistant/index.js") },
  { id: "tasks", title: words.places.tasks, icon: "tasks", order: 2, open: true, load: () => import("../tasks/index.js") },
  { id: "relay", title: words.places.relay, icon: "M3 5h10v7H7l-3 2.5V12H3zM13 8h4v6.5h-1V17l-3-2.5H9V12", order: 2.7, load: () => import("../relay/index.js") },
  { id: "operator", title: words.places.operator, icon: "M3 4h14v9H3zM7 17h6M10 13v4", order: 2.8, load: () => import("../operator/index.js") },
  { id: "campaigns", title: words.places.campaigns, icon: "M4 17V3h11l-2.5 3.5L15 10H4", order: 2.9, load: () => import("../campaigns/index.js") },
  { id: "capabilities", title: words.places.capabilities, icon: "capabilities", order: 3, load: () => import("../capabilities/index.js") },
  { id: "activity", title: words.places.activity, icon: "activity", order: 4, load: () => import("../activity/index.js") },
  { id: "settings", title: words.places.settings, icon: "settings", order: 5, open: true, load: () => import("../settings/index.js") },
];

/** The places that are for this person; `member` is true for one who is not the owner. */
export const placesFor = (member) => PLACES.filter(({ open }) => open || !member);

/** Chat lends what shows one conversation, see `chat/talk.js`. */
export const talk = async (...all) => (await import("../chat/index.js")).talk(...all);

/** Calls with Law live above the places, see `voice/index.js`. */
export const voice = async (...all) => (await import("../voice/index.js")).callOf(...all);
