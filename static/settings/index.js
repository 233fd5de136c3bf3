// Settings: who one is, and for the owner the model, the law, budgets, users and tiers, secrets,
// external servers, and the server; and this browser. `#settings/budgets` goes to a part of it.

import { addressOf } from "../core/address.js";
import { withSite } from "../core/api-site.js";
import { withTodo } from "../core/api-todo.js";
import { CHARACTERS } from "../core/characters.js";
import { h } from "../core/dom.js";
import { styles } from "../core/styles.js";
import { reasonOf, words } from "../core/words.js";
import { mainState } from "../core/workspace.js";
import { emptyState, errorState } from "../ui/states.js";
import { budgetSection } from "./budgets.js";
import { lookSection } from "./look.js";
import { mcpSection } from "./mcp.js";
import { meSection } from "./me.js";
import { modelSection } from "./model.js";
import { people } from "./people-words.js";
import { policySection } from "./policy.js";
import { secretSection } from "./secrets.js";
import { serverSection } from "./server.js";
import { tierSection } from "./tiers.js";
import { userSection } from "./users.js";
import { said } from "./words.js";

const SECTIONS = {
  me: meSection,
  model: modelSection,
  policy: policySection,
  budgets: budgetSection,
  users: userSection,
  tiers: tierSection,
  secrets: secretSection,
  mcp: mcpSection,
  look: lookSection,
  server: serverSection,
};
/** Those for every user; the others are the owner's. */
const FOR_ALL = ["me", "look"];

let here;

/** Puts the settings into `host`. */
export async function mount(host, { session: given, isMember }) {
  const session = withTodo(withSite(given));
  await styles(import.meta.url, "../ui/code.css", "settings.css");
  const gone = new AbortController();
  const context = { session, api: session.api, gone: gone.signal, site: createSite(session.api, isMember?.()), profiles: () => profilesOf(session) };
  const parts = new Map(Object.entries(SECTIONS).filter(([id]) => !isMember?.() || FOR_ALL.includes(id)).map(([id, make]) => [id, part(id, make, context)]));
  const links = [...parts.keys()].map((id) => linkTo(id));
  const unknown = h("div", {});
  host.append(h("div", { class: "sheet" }, unknown, h("nav", { class: "setting-nav", "aria-label": said.parts }, links), [...parts.values()].map(({ node }) => node)));
  here = { gone, parts, unknown };
}

/** Goes to the part that the address names, and in it to what it names. */
export function show([id, ...rest]) {
  if (!here) return;
  const at = here.parts.get(id);
  here.unknown.replaceChildren(...(at || id === undefined ? [] : [emptyState(words.places.unknown(location.hash), words.places.unknownHelp)]));
  if (!at) return;
  at.node.scrollIntoView({ block: "start" });
  if (!at.goTo?.(...rest)) at.heading.focus({ preventScroll: true });
}

/** Takes the settings out. */
export function unmount() {
  here?.gone.abort();
  here = undefined;
}

/** A link to a part. One that is pressed again goes there again, although the address stays the same. */
function linkTo(id) {
  const link = h("a", { href: addressOf("settings", id) }, nameOf(id));
  link.addEventListener("click", () => link.hash === location.hash && show([id]));
  return link;
}

const nameOf = (id) => said.sections[id] ?? people.sections[id];

/** A part with its heading. One that cannot be made says so, and takes no other with it. */
function part(id, make, context) {
  const heading = h("h2", { tabindex: "-1" }, nameOf(id));
  const node = h("section", { class: "setting-part", "data-testid": `settings-${id}` }, heading);
  try {
    const { nodes, goTo } = make(context);
    node.append(...nodes);
    return { node, heading, goTo };
  } catch (error) {
    console.error("a part of the settings could not be made", error);
    node.append(errorState(reasonOf(error)));
    return { node, heading };
  }
}

/** The server's settings, asked for once and shared by the forms that show some of them. */
function createSite(api, isMember) {
  const listeners = [];
  const site = {
    settings: [],
    error: undefined,
    /** Tells the settings now, if they are there, and each time they change. */
    told(listener, failed) {
      listeners.push({ listener, failed });
      if (site.settings.length > 0) listener(site.settings);
    },
    async load() {
      try {
        keep(await api.settings());
      } catch (error) {
        for (const { failed } of listeners) failed?.(error.message);
      }
    },
    async change(changes) {
      keep(await api.changeSettings(changes));
    },
  };
  const keep = ({ settings }) => {
    site.settings = settings;
    for (const { listener } of listeners) listener(settings);
  };
  // After the sections are there. A member has none that shows them.
  if (!isMember) queueMicrotask(site.load);
  return site;
}

/** The profiles there are: of conversations, of the characters also before they were used, and of other programs. */
function profilesOf(session) {
  const { hello } = mainState(session.store.getState());
  return [...new Set([...Object.keys(hello?.conversations ?? { builder: 0 }), ...CHARACTERS, "mcp"])];
}
