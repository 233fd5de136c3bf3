// Finds words in the conversation that is shown. A browser finds only what is in the page, and of a
// long conversation that is a part.

import { h } from "../core/dom.js";
import { shownState } from "../core/workspace.js";
import { wordsOf } from "../core/words.js";
import { iconButton } from "../ui/button.js";
import { loadBack } from "./earlier.js";
import { saidOf } from "./step-words.js";
import { mark } from "./to-turn.js";

const { find: said } = await wordsOf("find");
const LOOK_MS = 150;
const NAME = "found";

/** The text of a row, as far as a person can read it. Pure. */
export function textOf({ content, steps = [] }) {
  return [content ?? "", ...steps.map((step) => step.content ?? saidOf(step) ?? "")].join("\n");
}

/** The indices of the rows that hold `text`, whatever its case. Pure. */
export function rowsWith(rows, text) {
  const wanted = text.toLocaleLowerCase();
  return wanted === "" ? [] : rows.flatMap((row, index) => (textOf(row).toLocaleLowerCase().includes(wanted) ? [index] : []));
}

/** The bar of this `chat`: `{ open(), isOpen }`. */
export function createFinder(chat) {
  let before;
  let waits;
  let found = [];
  let at = -1;
  const text = h("input", { type: "search", class: "input", "aria-label": said.label, placeholder: said.label, autocomplete: "off", "data-testid": "find" });
  const told = h("span", { class: "find-told", role: "status" });
  const shut = () => {
    node.remove();
    clearTimeout(waits);
    globalThis.CSS.highlights?.delete(NAME);
    // The row that was found, or what had the focus before.
    const row = chat.messages.list.querySelector(":scope > [data-found]");
    if (row) mark(chat.messages, row);
    else before?.focus();
  };
  const node = h(
    "search",
    { class: "find" },
    text,
    told,
    iconButton("up", said.previous, () => go(-1), { "data-testid": "find-previous" }),
    iconButton("down", said.next, () => go(1), { "data-testid": "find-next" }),
    iconButton("close", said.close, shut, { "data-testid": "find-close" }),
  );

  /** Goes on to the next find, or back to the one before; the first is the last one in the conversation. */
  function go(step) {
    if (found.length === 0) return;
    at = (at + step + found.length) % found.length;
    const row = chat.messages.toKey(found[at]);
    if (row) mark(chat.messages, row, false);
    if (row) highlight(row, text.value.trim());
    told.textContent = said.of(at + 1, found.length);
  }

  async function look() {
    const wanted = text.value.trim();
    const { store, api } = chat.session;
    const { shown } = store.getState();
    const isWanted = () => node.isConnected && text.value.trim() === wanted && store.getState().shown === shown;
    found = [];
    if (wanted === "") {
      told.textContent = "";
      return;
    }
    told.textContent = said.looking;
    try {
      await loadBack({ api, getState: () => shownState(store.getState()), dispatch: store.dispatch }, () => !isWanted());
    } catch (error) {
      if (isWanted()) told.textContent = said.notLoaded(error.message);
      return;
    }
    if (!isWanted()) return;
    chat.told(store.getState());
    const { rows } = chat.messages.view;
    found = rowsWith(rows, wanted).map((index) => rows[index].key);
    at = found.length;
    told.textContent = said.none;
    go(-1);
  }

  text.addEventListener("input", () => {
    clearTimeout(waits);
    waits = setTimeout(look, LOOK_MS);
  });
  node.addEventListener("keydown", (event) => {
    if (event.key === "Escape") shut();
    else if (event.key === "Enter" && event.target === text && !event.isComposing) go(event.shiftKey ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return {
    open() {
      before = document.activeElement;
      chat.column.prepend(node);
      text.focus();
      text.select();
    },
    get isOpen() {
      return node.isConnected && node.contains(document.activeElement);
    },
  };
}

/** Marks the words themselves, if they stand in one piece of text. */
function highlight(row, wanted) {
  if (!globalThis.Highlight) return;
  const low = wanted.toLocaleLowerCase();
  const ranges = [];
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  for (let part = walker.nextNode(); part; part = walker.nextNode()) {
    const whole = part.data.toLocaleLowerCase();
    // A letter may have another length in lower case: then places do not fit.
    if (whole.length !== part.data.length) continue;
    for (let from = whole.indexOf(low); from !== -1; from = whole.indexOf(low, from + low.length)) {
      const range = document.createRange();
      range.setStart(part, from);
      range.setEnd(part, from + low.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set(NAME, new Highlight(...ranges));
}
