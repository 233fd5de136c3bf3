// The secrets: their names, never their values. A value goes from the field to the server, and the
// field is empty before the server answers.

import { h } from "../core/dom.js";
import { shortTime } from "../core/times.js";
import { mainState } from "../core/workspace.js";
import { button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { field, input } from "../ui/forms.js";
import { errorState, waitingFor } from "../ui/states.js";
import { savingForm } from "./saving.js";
import { said } from "./words.js";

/** The part of it; kept fresh until the signal `gone`. */
export function secretSection({ session, api, gone }) {
  const list = h("div", { class: "secrets" }, waitingFor(() => load(), 2));
  const load = () => session.lists.load("secrets");
  const form = secretForm(api, load);
  let shown;
  const told = (workspace) => {
    const secrets = mainState(workspace).lists.secrets;
    if (!secrets || secrets === shown) return;
    shown = secrets;
    const rows = (secrets.entries ?? []).map((secret) => secretNode(secret, { api, load, replace: form.replace }));
    const none = secrets.error ? errorState(secrets.error, load) : h("p", { class: "none" }, said.secretsNone);
    list.replaceChildren(...rows, secrets.error || rows.length === 0 ? none : "");
  };
  session.look("secrets", () => !gone.aborted);
  session.store.subscribe(told, gone);
  load();
  told(session.store.getState());
  return { nodes: [h("p", { class: "none" }, said.secretsHelp), h("div", { "data-testid": "secrets" }, list, form.node)] };
}

function secretForm(api, load) {
  const name = input({ required: true, pattern: "[A-Z][A-Z0-9_]{0,63}", autocapitalize: "characters", spellcheck: "false", "data-testid": "secret-name" });
  const value = input({ type: "password", required: true, autocomplete: "new-password", spellcheck: "false", "data-testid": "secret-value" });
  name.addEventListener("input", () => (name.value = name.value.toUpperCase()));
  const save = async () => {
    const sent = api.setSecret(name.value, value.value);
    value.value = "";
    try {
      await sent;
    } catch (error) {
      value.focus();
      throw error;
    }
    name.value = "";
    load();
  };
  const body = h("div", { class: "side-by-side" }, field(said.secretName, name, said.secretNameHelp).node, field(said.secretValue, value).node);
  const node = savingForm({ label: said.setSecret, testid: "secret-form", holds: said.nextCall, body, save, text: said.setSecret });
  node.querySelector("[type=submit]").dataset.testid = "secret-save";
  const replace = (known) => {
    name.value = known;
    value.focus();
  };
  return { node, replace };
}

function secretNode({ name, updated_at: at, used_by: users = [], readable }, { api, load, replace }) {
  const text = users.length > 0 ? said.usedBy(users.join(", ")) : said.unused;
  const remove = () => {
    const dialog = ask({ title: said.removeSecret(name), text, yes: said.remove, kind: "danger", action: () => api.removeSecret(name).then(load) });
    dialog.dataset.testid = "secret-remove-dialog";
  };
  return h(
    "div",
    { class: "secret", "data-secret": name },
    h("p", {}, h("code", {}, name), " ", h("span", { class: "none" }, [said.setAt(shortTime(at)), users.length > 0 && said.usedByShort(users.join(", "))].filter(Boolean).join(" · "))),
    readable === false ? h("p", { class: "problem" }, said.unreadable) : "",
    h(
      "p",
      { class: "row-actions" },
      button(said.replace, () => replace(name), { kind: "quiet", "aria-label": said.replaceIt(name) }),
      button(said.remove, remove, { kind: "quiet", "aria-label": said.removeIt(name), "data-testid": "secret-remove" }),
    ),
  );
}
