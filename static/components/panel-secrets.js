// The secrets in the side panel: their names, never their values. A value goes from the field to the server, and the field is empty
// before the server answers.

import { h, keyed } from "../dom.js";
import { localTime } from "../times.js";
import { actionButton, panelSection, problemLine } from "./panel-section.js";

const NAME_RULE = "[A-Z][A-Z0-9_]{0,63}";

/** The section: `{ node, show(list) }`. `api` as in `api.js`; `refresh()` asks for the list again. */
export function secretSection(api, refresh) {
  const { line, say } = problemLine();
  const list = h("div", { class: "secrets", role: "list" });
  const none = h("p", { class: "none", hidden: true }, "None yet. The assistant only ever sees their names.");
  const form = secretForm(api, refresh, say);
  const node = panelSection("secrets", "Secrets", list, none, form.node, line);
  const show = ({ entries, error } = {}) => {
    say(error);
    const rows = (entries ?? []).map(({ name, updated_at, used_by = [], readable }) => ({
      key: name,
      name,
      updatedAt: updated_at,
      usedBy: used_by.join(", "),
      readable: readable !== false,
    }));
    keyed(list, rows, () =>
      Object.assign(document.createElement("l3-secret"), { api, refresh, say, replace: form.replace }),
    );
    none.hidden = entries === undefined || rows.length > 0;
  };
  return { node, show };
}

function secretForm(api, refresh, say) {
  const name = h("input", {
    name: "secret-name",
    "data-testid": "secret-name",
    placeholder: "API_KEY",
    "aria-label": "Name of the secret",
    title: "Capital letters, digits and _",
    pattern: NAME_RULE,
    required: true,
    autocomplete: "off",
    autocapitalize: "characters",
    spellcheck: "false",
  });
  const value = h("input", {
    type: "password",
    "data-testid": "secret-value",
    placeholder: "Value",
    "aria-label": "Value of the secret",
    required: true,
    autocomplete: "new-password",
    spellcheck: "false",
  });
  const save = h("button", { type: "submit", class: "small", "data-testid": "secret-save" }, "Set");
  const node = h("form", { class: "secret-form" }, name, value, save);
  name.addEventListener("input", () => (name.value = name.value.toUpperCase()));
  node.addEventListener("submit", async (event) => {
    event.preventDefault();
    say(undefined);
    const sent = api.setSecret(name.value, value.value);
    value.value = "";
    save.disabled = true;
    try {
      await sent;
      name.value = "";
      refresh();
    } catch (error) {
      say(error.message);
      value.focus();
    }
    save.disabled = false;
  });
  const replace = (known) => {
    name.value = known;
    value.focus();
  };
  return { node, replace };
}

/** `<l3-secret>`: one secret; `data` is `{ name, updatedAt, usedBy, readable }`. */
export class SecretEntry extends HTMLElement {
  set data(row) {
    this.row = row;
    this.setAttribute("role", "listitem");
    this.dataset.secret = row.name;
    this.show();
  }

  show() {
    const { name, updatedAt, usedBy, readable } = this.row;
    const replace = h("button", { type: "button", class: "quiet", "aria-label": `Replace ${name}` }, "Replace");
    replace.addEventListener("click", () => this.replace(name));
    const remove = h("button", { type: "button", class: "quiet", "aria-label": `Remove ${name}` }, "Remove");
    remove.dataset.testid = "secret-remove";
    remove.addEventListener("click", () => this.ask());
    this.replaceChildren(
      h("code", {}, name),
      h("p", { class: "entry-foot" }, `Set ${localTime(updatedAt)}`, usedBy ? ` · used by ${usedBy}` : ""),
      readable ? "" : h("p", { class: "problem" }, "The key in the data folder does not open it. Set it again."),
      h("p", { class: "panel-actions" }, replace, remove),
    );
  }

  ask() {
    const { name, usedBy } = this.row;
    const keep = h("button", { type: "button", class: "quiet" }, "Keep");
    keep.addEventListener("click", () => {
      this.show();
      this.querySelector("[data-testid=secret-remove]").focus();
    });
    const remove = actionButton("Remove it", "quiet danger", this.say, async () => {
      await this.api.removeSecret(name);
      this.refresh();
    });
    remove.dataset.testid = "secret-remove-confirm";
    this.replaceChildren(
      h("code", {}, name),
      h(
        "p",
        { class: "entry-foot" },
        usedBy ? `It is used by ${usedBy}, which will fail without it.` : "Nothing uses it.",
      ),
      h("p", { class: "panel-actions" }, remove, keep),
    );
    keep.focus();
  }
}

customElements.define("l3-secret", SecretEntry);
