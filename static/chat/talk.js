// One conversation in another place: the rows and the field of Chat, without its list and without
// what goes on elsewhere.

import { h } from "../core/dom.js";
import { waiting } from "../core/state-law.js";
import { styles } from "../core/styles.js";
import { isLookedAt, shownState } from "../core/workspace.js";
import { composerData } from "./composer-data.js";
import { createDrafts } from "./draft.js";
import { prepare } from "./row-elements.js";
import { turnRows } from "./turns.js";
import "./composer.js";
import "./messages.js";

/**
 * Puts it into `host`. `name` is that of its drafts, `placeholder` stands in the field, `rowsOf(rows, state)` may change what is shown, and
 * `greeting` and `suggestions` (`{ model, tour }`) are for an empty one. Gives `{ node, show(workspace), giveBack(content, images), toQuestion(), toEnd() }`.
 */
export async function createTalk(host, { context, signal, name, placeholder, rowsOf, greeting, suggestions }) {
  prepare();
  await styles(import.meta.url, "messages.css", "composer.css", "chat.css");
  const { session, storage } = context;
  const messages = document.createElement("l3-messages");
  const composer = document.createElement("l3-composer");
  const node = h("div", { class: "column" }, messages, composer);
  host.append(node);
  composer.drafts = createDrafts(named(storage, name));
  composer.with.button.hidden = true;
  composer.text.placeholder = placeholder;
  composer.text.setAttribute("aria-label", placeholder);
  const on = (target, type, action) => target.addEventListener(type, action, { signal });
  on(node, "send-message", ({ detail }) => (session.send(detail), messages.toEnd()));
  on(node, "stop-turns", () => session.stop());
  on(node, "decide", ({ detail }) => session.decide(detail));
  on(node, "dismiss-message", ({ detail: id }) => session.take(id));
  on(node, "dismiss-notice", ({ detail: key }) => session.store.dispatch({ type: "@dismiss", key, conversation: session.store.getState().shown }));
  const giveBack = (content, images) => (composer.giveBack(content, images), composer.text.focus());
  on(node, "edit-message", ({ detail: id }) => {
    const entry = session.take(id);
    if (entry) giveBack(entry.content, entry.images);
  });
  on(node, "write-this", ({ detail }) => giveBack(detail));
  on(globalThis, "see-approval", () => messages.toApproval());
  on(globalThis, "write-message", () => composer.text.focus());
  on(globalThis, "go-turn", ({ detail }) => messages.toTurn(detail));

  function show(workspace) {
    const state = shownState(workspace);
    const rows = rowsOf(turnRows(state), state);
    const isEmpty = rows.length === 0 && isLookedAt(workspace);
    const again = isLookedAt(workspace) ? undefined : () => session.open(workspace.shown);
    messages.data = { rows, hasEarlier: false, greeting: isEmpty ? greeting : undefined, waits: waiting(state).map(({ key }) => key), again };
    const isTour = state.hello?.model.kind === "tour";
    composer.data = { ...composerData(state, isEmpty, state), suggestions: isTour ? suggestions.tour : isEmpty && state.hello ? suggestions.model : [] };
  }

  return { node, show, giveBack, toQuestion: () => messages.toApproval(), toEnd: () => messages.toEnd() };
}

/** A part of `storage` of its own: drafts of this conversation are not taken for those of Chat. */
const named = (storage, name) => ({
  getItem: (key) => storage.getItem(`${key}@${name}`),
  setItem: (key, value) => storage.setItem(`${key}@${name}`, value),
  removeItem: (key) => storage.removeItem(`${key}@${name}`),
});
