// The line to say something as the agent. Words that could not be sent stay, and are sent
// again under the same key.

import { h } from "../core/dom.js";
import { draftOf } from "../core/drafts.js";
import { button } from "../ui/button.js";
import { field } from "../ui/forms.js";
import { noSend } from "./rows.js";
import { relay as said } from "./words.js";

/** The most that a message holds. */
const MOST = 4096;

/** The part: `{ node, show(instance) }`. A text that is begun is kept in `storage`. */
export function takeOver({ api, id, storage, announce, changed }) {
  const text = h("textarea", { class: "input", rows: 3, dir: "auto", maxlength: MOST, "data-testid": "relay-text" });
  const { node: labelled, wrong } = field(said.take, text, said.takeHelp);
  // The same words sent again after a failure are the same message.
  const sent = { text: undefined, key: undefined };
  const draft = draftOf(storage, `relay.${id}`);
  const keep = () => draft.keep(text.value, sent.text ?? "", sent.key ?? "");
  [text.value = "", sent.text, sent.key] = draft.texts();
  text.addEventListener("input", keep);
  const send = async () => {
    const words = text.value.trim();
    if (words === "") {
      text.focus();
      return;
    }
    if (sent.text !== words) Object.assign(sent, { text: words, key: crypto.randomUUID() });
    keep();
    wrong(undefined);
    try {
      await api.relaySend(id, words, sent.key);
      text.value = "";
      sent.text = undefined;
      draft.sent();
      announce(said.sent);
    } catch (error) {
      wrong(error.message);
    }
    await changed();
  };
  const go = button(said.send, send, { kind: "primary", "data-testid": "relay-send" });
  const why = h("p", { class: "none", "data-testid": "relay-no-send" });
  const form = h("form", { class: "relay-compose" }, labelled, go);
  form.addEventListener("submit", (event) => event.preventDefault());
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    go.click();
  });
  const show = (instance) => {
    const reason = noSend(instance);
    why.textContent = reason ? said.noSend[reason] : "";
    why.hidden = !reason;
    // Typed words are not lost while it is paused.
    form.hidden = Boolean(reason);
  };
  return { node: h("div", {}, why, form), show };
}
