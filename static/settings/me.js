// The user who looks at the page: the name, the time zone, the password, and the browsers in which
// one is signed in.

import { h } from "../core/dom.js";
import { shortTime } from "../core/times.js";
import { button } from "../ui/button.js";
import { field, input } from "../ui/forms.js";
import { errorState, waitingFor } from "../ui/states.js";
import { people } from "./people-words.js";
import { savingForm } from "./saving.js";
import { said } from "./words.js";

const SHORTEST = 12;
const LONGEST = 128;

/** The part of it. */
export function meSection({ api, gone }) {
  const body = h("div", { "data-testid": "me" }, waitingFor(load, 3));

  async function load() {
    try {
      const me = await api.me();
      if (!gone.aborted) body.replaceChildren(...parts(me, api, load, gone));
    } catch (error) {
      if (!gone.aborted) body.replaceChildren(errorState(error.message, load));
    }
  }

  load();
  return { nodes: [body] };
}

function parts(me, api, load, gone) {
  const { name, role, tier } = me;
  const list = h("div", { "data-testid": "sessions" });
  sessions(list, api, load, gone);
  return [
    h("p", { class: "none" }, people.meHelp(name, people.roles[role] ?? role, people.tierNames[tier] ?? tier)),
    nameForm(me, api),
    h("h3", {}, people.password),
    h("p", { class: "none" }, me.password ? people.passwordHelp : people.passwordNone),
    passwordForm(me, api, load),
    h("h3", {}, people.sessions),
    list,
    me.signed_in ? h("p", { class: "sign-out" }, button(people.signOut, () => signOut(api), { "data-testid": "sign-out" })) : "",
  ];
}

/** A field for a time zone, with those that the browser knows. */
export function zoneField(value) {
  const id = `zones-${(zoneField.made = (zoneField.made ?? 0) + 1)}`;
  const zones = Intl.supportedValuesOf?.("timeZone") ?? [];
  const control = input({ value, list: id, spellcheck: "false", dir: "ltr", "data-testid": "time-zone" });
  const { node, wrong } = field(people.zone, control, people.zoneHelp);
  return { node: h("div", {}, node, h("datalist", { id }, zones.map((zone) => h("option", { value: zone })))), control, wrong };
}

function nameForm({ display_name: called, time_zone: zone }, api) {
  const name = input({ value: called, required: true, maxlength: "100", "data-testid": "display-name" });
  const zones = zoneField(zone);
  const fields = { display_name: field(people.displayName, name, people.displayNameHelp), time_zone: zones };
  const body = h("div", { class: "side-by-side" }, fields.display_name.node, zones.node);
  const save = () => api.changeMe({ display_name: name.value.trim(), time_zone: zones.control.value.trim() }).then(() => undefined);
  return savingForm({ label: people.sections.me, testid: "me-form", holds: said.now, body, save, fields });
}

function passwordForm({ password: has }, api, load) {
  const secret = (autocomplete, testid) => input({ type: "password", required: true, autocomplete, dir: "ltr", "data-testid": testid });
  const current = secret("current-password", "password-current");
  const next = secret("new-password", "password-new");
  const again = secret("new-password", "password-again");
  const fields = [has && field(people.current, current).node, field(people.next, next, people.length).node, field(people.again, again).node];
  const save = async () => {
    const length = [...next.value].length;
    if (length < SHORTEST || length > LONGEST) throw new Error(people.length);
    if (next.value !== again.value) throw new Error(people.differ);
    await api.setMyPassword(next.value, has ? current.value : undefined);
    load();
    return people.passwordSet;
  };
  return savingForm({ label: people.password, testid: "password-form", holds: said.now, body: h("div", { class: "side-by-side" }, fields), save, text: people.setPassword });
}

async function sessions(list, api, load, gone) {
  const again = () => sessions(list, api, load, gone);
  try {
    const { sessions: all } = await api.sessions();
    if (gone.aborted) return;
    const rows = all.map((session) => sessionNode(session, api, again));
    list.replaceChildren(...(rows.length > 0 ? rows : [h("p", { class: "none" }, people.sessionsNone)]));
  } catch (error) {
    if (!gone.aborted) list.replaceChildren(errorState(error.message, again));
  }
}

const BROWSERS = [["Edg", "Edge"], ["OPR", "Opera"], ["Firefox", "Firefox"], ["Chrome", "Chrome"], ["Safari", "Safari"]];
const SYSTEMS = [["iPhone", "iPhone"], ["iPad", "iPad"], ["Android", "Android"], ["Windows", "Windows"], ["Mac OS", "macOS"], ["Linux", "Linux"]];

/** A browser by its own words in short, such as “Firefox, Linux”; words that are none of these stay as they are. Pure. */
export function clientName(words) {
  const named = (all) => all.find(([mark]) => words.includes(mark))?.[1];
  return [named(BROWSERS), named(SYSTEMS)].filter(Boolean).join(", ") || words;
}

function sessionNode({ id, client: words, used_at: used, current }, api, again) {
  const client = clientName(words);
  const end = button(people.end, () => api.endSession(id).then(again), { kind: "quiet", "aria-label": people.endIt(client) });
  return h("div", { class: "server session" }, h("p", { dir: "auto" }, people.session(client, shortTime(used))), current ? h("p", { class: "none" }, people.thisOne) : h("p", { class: "row-actions" }, end));
}

/** The next one at this tab may be somebody else: nothing of what was kept stays. */
async function signOut(api) {
  await api.signOut();
  globalThis.sessionStorage?.clear();
  location.assign("/");
}
