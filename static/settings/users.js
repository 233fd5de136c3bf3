// The users of the server, for its owner: their names, tiers and numbers, the links by which they
// come in, and their end.

import { h } from "../core/dom.js";
import { shortTime } from "../core/times.js";
import { plainVisible } from "../core/visible.js";
import { button, iconButton } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { field, input, select } from "../ui/forms.js";
import { openMenu } from "../ui/menu.js";
import { problemLine } from "../ui/section.js";
import { errorState, waitingFor } from "../ui/states.js";
import { zoneField } from "./me.js";
import { people } from "./people-words.js";
import { savingForm } from "./saving.js";
import { said } from "./words.js";

const TIERS = ["free", "paid"];
const LONGEST_NAME = "40";

/** The part of it. */
export function userSection({ api, gone }) {
  const list = h("div", { class: "users", "data-testid": "users" }, waitingFor(load, 3));
  const told = h("div", { class: "told-once", role: "status" });

  async function load() {
    try {
      const { users } = await api.users();
      if (!gone.aborted) list.replaceChildren(...users.map((user) => userNode(user, { api, load, told })));
    } catch (error) {
      if (!gone.aborted) list.replaceChildren(errorState(error.message, load));
    }
  }

  load();
  const add = h("details", { class: "add" }, h("summary", {}, people.addTitle), addForm(api, load, told));
  return { nodes: [h("p", { class: "none" }, people.usersHelp), list, told, add] };
}

/** Something that is shown once: a link or a token, with a way to copy it. */
function once(text, secret) {
  const state = h("span", { class: "none", role: "status" });
  const value = input({ value: secret, readonly: true, dir: "ltr", "aria-label": text, "data-testid": "shown-once" });
  value.addEventListener("focus", () => value.select());
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(secret);
      state.textContent = people.copied;
    } catch {
      state.textContent = people.notCopied;
      value.select();
    }
  };
  return h("div", { class: "once" }, h("p", {}, text), h("div", { class: "once-value" }, value, button(people.copy, copy)), state);
}

/** The link as a person sends it; the server gives it without its own address. */
const linkNode = ({ user, link, expires_at: until }) => once(people.invited(plainVisible(user.name), shortTime(until)), new URL(link, location.origin).href);

function userNode(user, { api, load, told }) {
  const { name, display_name: called, role, tier, password, disabled_at: disabled, conversations, open_tasks: tasks, used } = user;
  const marks = [role === "owner" && people.you, people.tierNames[tier] ?? tier, disabled && people.disabled, !password && role !== "owner" && people.noPassword].filter(Boolean);
  const { line, say } = problemLine();
  const entries = () => menuOf(user, { api, load, told, say });
  const menu = iconButton("more", people.actionsFor(name), (from) => openMenu(from, entries()), { "aria-haspopup": "menu", "data-testid": `user-menu-${name}` });
  return h(
    "div",
    { class: "server user", "data-user": name, "data-disabled": String(Boolean(disabled)) },
    h("div", { class: "user-head" }, h("strong", { dir: "auto" }, people.userHead(plainVisible(name), called)), marks.map((mark) => h("span", { class: "mark-word" }, mark)), menu),
    h("p", { class: "none" }, people.numbers(tasks, conversations, used?.requests ?? 0)),
    line,
  );
}

function menuOf(user, { api, load, told, say }) {
  const { name, role, disabled_at: disabled, tokens } = user;
  /** Does it, and says what went wrong at the user. */
  const act = (work) => async () => {
    say(undefined);
    try {
      await work();
    } catch (error) {
      say(error.message);
    }
  };
  const show = (node) => {
    told.replaceChildren(node);
    told.querySelector("input").focus();
  };
  const all = [
    { text: people.edit, action: () => edit(user, api, load) },
    { text: people.token, action: act(async () => show(once(people.tokenMade(name), (await api.makeToken(name)).token))) },
  ];
  if (tokens > 0) all.push({ text: people.revoke(tokens), action: act(() => api.revokeTokens(name).then(load)) });
  // The server has one owner, who cannot shut themselves out.
  if (role === "owner") return all;
  return [
    ...all,
    { text: people.invite, action: act(async () => show(linkNode(await api.invite(name)))) },
    disabled ? { text: people.enable, action: act(() => api.changeUser(name, { disabled: false }).then(load)) } : { text: people.disable, action: () => disable(name, api, load) },
    { text: people.removeUser, kind: "danger", action: () => remove(name, api, load) },
  ];
}

function edit({ name, display_name: called, tier, time_zone: zone }, api, load) {
  let chosen = tier;
  const display = input({ value: called, required: true, maxlength: "100", "data-testid": "user-called" });
  const zones = zoneField(zone);
  const tiers = select(TIERS.map((each) => [each, people.tierNames[each]]), tier, (value) => (chosen = value));
  tiers.dataset.testid = "user-tier";
  const control = h("div", {}, field(people.displayName, display).node, field(people.tier, tiers).node, zones.node);
  const action = () => api.changeUser(name, { display_name: display.value.trim(), tier: chosen, time_zone: zones.control.value.trim() }).then(load);
  ask({ title: people.editTitle(name), control, yes: people.save, action });
}

const disable = (name, api, load) =>
  ask({ title: people.disableTitle(name), text: people.disableText, yes: people.disable, kind: "danger", action: () => api.changeUser(name, { disabled: true }).then(load) });

function remove(name, api, load) {
  const again = input({ autocapitalize: "none", spellcheck: "false", "data-testid": "remove-name" });
  const control = field(people.removeName, again).node;
  ask({ title: people.removeTitle(name), text: people.removeText(name), control, yes: people.removeUser, kind: "danger", action: () => api.removeUser(name, again.value.trim()).then(load) });
}

function addForm(api, load, told) {
  const name = input({ required: true, maxlength: LONGEST_NAME, autocapitalize: "none", spellcheck: "false", "data-testid": "user-name" });
  const called = input({ maxlength: "100", "data-testid": "user-display" });
  const zones = zoneField(Intl.DateTimeFormat().resolvedOptions().timeZone);
  let tier = "free";
  const tiers = select(TIERS.map((each) => [each, people.tierNames[each]]), tier, (value) => (tier = value));
  const save = async () => {
    const user = { name: name.value.trim(), tier, time_zone: zones.control.value.trim() };
    const made = await api.addUser(called.value.trim() === "" ? user : { ...user, display_name: called.value.trim() });
    told.replaceChildren(linkNode(made));
    name.value = "";
    called.value = "";
    load();
    return people.added(made.user.name);
  };
  const fields = { name: field(people.name, name, people.nameHelp), display_name: field(people.displayName, called), time_zone: zones };
  const body = h("div", { class: "side-by-side" }, fields.name.node, fields.display_name.node, field(people.tier, tiers).node, zones.node);
  return savingForm({ label: people.addTitle, testid: "user-form", holds: said.now, body, save, fields, text: people.addButton });
}
