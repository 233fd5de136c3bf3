// The command palette: a field, and what fits its words among places, conversations, capabilities
// and actions. Conversations that are not on the first page of the list are found by the server,
// and so are messages and answers, to which it leads.

import { capabilityList } from "../core/entries.js";
import { h } from "../core/dom.js";
import { words, wordsOf } from "../core/words.js";
import { isBusy } from "../core/state.js";
import { mainState, shownState, together } from "../core/workspace.js";
import { openDialog } from "../ui/dialog.js";
import { iconOf } from "../ui/icons.js";
import { showKeys } from "./keys.js";

const { palette: kinds, shortcuts: keys } = await wordsOf("palette");

const SHOWN = 30;
const SEARCH_MS = 150;

/** Entries that hold every word of `text`, those that begin with it first. Pure. */
export function fitting(entries, text) {
  const parts = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const lower = (entry) => entry.text.toLocaleLowerCase();
  const fits = entries.filter((entry) => parts.every((part) => lower(entry).includes(part)));
  const rank = (entry) => (parts.length > 0 && lower(entry).startsWith(parts[0]) ? 0 : 1);
  return fits.toSorted((a, b) => rank(a) - rank(b)).slice(0, SHOWN);
}

/**
 * The server's finds as entries. One for each conversation whose title it is and that is not among `known`, a set of numbers; and one for each
 * message or answer, which leads there. Pure.
 */
export function foundEntries(found, known, go) {
  const name = ({ conversation, title }) => title || words.dock.conversation(conversation);
  const isTitle = ({ turn }) => turn === null || turn === undefined;
  const titles = new Map(found.filter((each) => isTitle(each) && !known.has(each.conversation)).map((each) => [each.conversation, each]));
  const named = [...titles.values()].map((each) => ({
    text: name(each),
    kind: kinds.conversation,
    icon: "chat",
    conversation: each.conversation,
    run: () => go("chat", String(each.conversation)),
  }));
  const messages = found.filter((each) => !isTitle(each)).map((each) => ({
    text: (each.snippet ?? []).map(({ text }) => text).join("").replace(/\s+/g, " ").trim() || name(each),
    kind: name(each),
    icon: "search",
    run: () => go("chat", String(each.conversation), String(each.turn), ...(each.role === "assistant" ? ["answer"] : [])),
  }));
  return [...named, ...messages];
}

function allEntries({ places, member, workspace, go, actions, inChat }) {
  const { conversations = [] } = mainState(workspace).lists.conversations?.entries ?? {};
  return [
    ...places.map(({ id, title, icon }) => ({ text: title, kind: kinds.place, icon, run: () => go(id) })),
    ...(member ? [] : [{ text: keys.new, kind: kinds.action, icon: "plus", run: actions.new }, { text: keys.search, kind: kinds.action, icon: "search", run: actions.search }]),
    { text: keys.write, kind: kinds.action, icon: "edit", run: actions.write },
    ...(inChat ? [{ text: keys.list, kind: kinds.action, icon: "list", run: actions.list }] : []),
    ...(isBusy(shownState(workspace)) ? [{ text: words.dock.stop, kind: kinds.action, icon: "close", run: actions.stop }] : []),
    { text: keys.title, kind: kinds.action, icon: "more", run: showKeys },
    ...conversations.map(({ id, title }) => ({
      text: title || words.dock.conversation(id),
      kind: kinds.conversation,
      icon: "chat",
      conversation: id,
      run: () => go("chat", String(id)),
    })),
    ...capabilityList(together(workspace)).map(({ name }) => ({
      text: name,
      kind: kinds.capability,
      icon: "capabilities",
      run: () => go("capabilities", name),
    })),
  ];
}

/** Opens the palette. */
export function openPalette(context) {
  // The keys may have been pressed again while this was loaded.
  if (document.querySelector("dialog:modal")) return;
  const all = allEntries(context);
  let shown = [];
  let chosen = 0;
  let found = [];
  let waits;
  /** True while the server is asked: until it answers nobody knows that nothing fits. */
  let isAsked = false;
  const list = h("div", { role: "listbox", id: "palette-list", "aria-label": kinds.title });
  const none = h("p", { class: "none", role: "status", hidden: true }, kinds.none);
  const text = h("input", {
    type: "text",
    class: "input",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-label": kinds.title,
    "aria-autocomplete": "list",
    autocomplete: "off",
    placeholder: kinds.placeholder,
    "data-testid": "palette",
  });
  const dialog = openDialog(kinds.title, [text, list, none], { class: "palette" });
  const run = (entry) => {
    dialog.close();
    entry?.run();
  };
  const mark = (index) => {
    chosen = (index + shown.length) % Math.max(1, shown.length);
    [...list.children].forEach((node, at) => node.setAttribute("aria-selected", String(at === chosen)));
    const node = list.children[chosen];
    node?.scrollIntoView({ block: "nearest" });
    if (node) text.setAttribute("aria-activedescendant", node.id);
    else text.removeAttribute("aria-activedescendant");
  };
  const show = (at = 0) => {
    const fits = fitting(all, text.value);
    const known = new Set(fits.map(({ conversation }) => conversation));
    shown = [...fits, ...foundEntries(found, known, context.go)].slice(0, SHOWN);
    list.replaceChildren(
      ...shown.map((entry, index) => {
        const option = h("div", { role: "option", id: `palette-${index}`, "aria-selected": "false", onclick: () => run(entry) });
        option.append(iconOf(entry.icon), h("span", { dir: "auto" }, entry.text), h("span", { class: "kind", dir: "auto" }, entry.kind));
        return option;
      }),
    );
    none.hidden = shown.length > 0 || isAsked;
    mark(at);
  };
  /** Asks the server a moment after the last key. A line that was chosen meanwhile stays chosen; an answer that comes too late is dropped. */
  const look = () => {
    clearTimeout(waits);
    found = [];
    const asked = text.value.trim();
    isAsked = asked.length >= 2;
    none.textContent = kinds.none;
    if (!isAsked) return;
    waits = setTimeout(async () => {
      const answer = await context.search(asked).catch(() => undefined);
      if (!dialog.isConnected || text.value.trim() !== asked) return;
      isAsked = false;
      if (!answer) none.textContent = kinds.notAsked;
      found = answer?.found ?? [];
      show(chosen);
    }, SEARCH_MS);
  };
  text.addEventListener("input", () => (look(), show()));
  text.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) mark(chosen + step);
    else if (event.key === "Enter" && !event.isComposing) run(shown[chosen]);
    else return;
    event.preventDefault();
  });
  show();
  text.focus();
}
