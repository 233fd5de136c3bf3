// Webhooks: other programs that are told of each change of an instance. They are added, tried and
// taken away here.

import { h, keyed } from "../core/dom.js";
import { button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { field, input, toggle } from "../ui/forms.js";
import { saidAtField } from "../ui/refused.js";
import { relay as said } from "./words.js";

/** The section: `{ node, load() }`. If the list cannot be had, what is known of it stays. */
export function webhooksSection({ api, signal, announce }) {
  const list = h("div", { role: "list", "aria-label": said.webhooks, hidden: true });
  const none = h("p", { class: "none", hidden: true }, said.webhookNone);
  const url = input({ type: "url", dir: "ltr", placeholder: "https://", "data-testid": "webhook-url" });
  const address = field(said.webhookUrl, url, said.webhookHelp);
  let withText = false;
  const more = toggle(said.webhookText, false, (on) => (withText = on), said.webhookTextHelp);
  const secret = h("p", { class: "relay-secret", role: "status" });
  const go = button(said.webhookAdd, () => add(), { "data-testid": "webhook-add" });
  const form = h("form", { class: "relay-webhook-form", novalidate: true }, address.node, more, go, secret);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go.click();
  });
  const node = h("section", { class: "relay-channels-part", "data-testid": "relay-webhooks" }, h("h2", {}, said.webhooks), none, list, form);

  async function load() {
    const answer = await api.relayWebhooks().catch(() => undefined);
    if (signal.aborted || !answer) return;
    const rows = answer.webhooks.map(({ id, ...webhook }) => ({ ...webhook, key: id, id, kind: "webhook" }));
    list.hidden = rows.length === 0;
    none.hidden = rows.length > 0;
    keyed(list, rows, () => Object.assign(document.createElement("l3-relay-webhook"), { deeds: { test, takeAway } }));
  }

  async function add() {
    address.wrong(undefined);
    secret.replaceChildren();
    try {
      const made = await api.relayAddWebhook(url.value.trim(), withText);
      url.value = "";
      // The server says it this once.
      secret.replaceChildren(said.webhookSecret, " ", h("code", { dir: "ltr", "data-testid": "webhook-secret" }, made.secret));
    } catch (error) {
      if (saidAtField(error, { url: address })) return;
      address.wrong(error.message);
      url.focus();
    }
    await load();
  }

  async function test(row) {
    try {
      const { ok, status, error } = await api.relayTryWebhook(row.shownRow.id);
      row.say(ok ? said.webhookTold(status) : said.webhookNotTold(error));
    } catch (error) {
      row.say(error.message);
    }
    await load();
  }

  function takeAway(row) {
    const { id, url: text } = row.shownRow;
    const action = async () => {
      await api.relayRemoveWebhook(id);
      await load();
      announce(said.webhookRemoved);
    };
    const dialog = ask({ title: said.webhookRemoveTitle, text, yes: said.webhookRemove, kind: "danger", action });
    // The button that asked is gone; the focus goes on from the field.
    dialog.addEventListener("close", () => row.isConnected || url.focus());
  }
  return { node, load };
}

/** `<l3-relay-webhook>`: a row of the list; `data` is a webhook as the server has it. `deeds` are what its buttons do. */
class RelayWebhook extends HTMLElement {
  set data({ url, with_text: withText, waiting, failed, last_error: error }) {
    if (!this.address) this.build();
    this.address.textContent = url;
    const counts = [withText && said.webhookWithText, waiting > 0 && said.webhookWaits(waiting), failed > 0 && said.webhookFailed(failed), error];
    this.facts.textContent = counts.filter(Boolean).join(" · ");
  }

  build() {
    this.setAttribute("role", "listitem");
    this.address = h("code", { class: "relay-webhook-url", dir: "ltr" });
    this.facts = h("p", { class: "relay-note", dir: "auto" });
    this.told = h("p", { class: "relay-note", role: "status", dir: "auto" });
    const { test, takeAway } = this.deeds;
    const once = button(said.webhookTest, () => test(this), { kind: "quiet", "data-testid": "webhook-test" });
    const away = button(said.webhookRemove, () => takeAway(this), { kind: "quiet", "data-testid": "webhook-remove" });
    this.append(h("div", { class: "relay-row-head" }, this.address, once, away), this.facts, this.told);
  }

  /** Says what came of a test. */
  say(text) {
    this.told.textContent = text;
  }
}
customElements.define("l3-relay-webhook", RelayWebhook);
