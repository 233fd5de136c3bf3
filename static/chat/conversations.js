// The list of conversations: search, a new one, and each with what it does and what can be done
// with it.

import { h, keyed } from "../core/dom.js";
import { set, setting } from "../core/settings.js";
import { words } from "../core/words.js";
import { mainState } from "../core/workspace.js";
import { button, iconButton } from "../ui/button.js";
import { skeleton } from "../ui/states.js";
import { groupedRows } from "./grouping.js";

const SEARCH_MS = 150;
const said = words.conversations;
const unlisted = () => import("./unlisted.js");

/** `<l3-conversations>`: `connect(context)`, then `data = workspace`. Sends `new-chat`. */
export class Conversations extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "complementary");
    this.setAttribute("aria-label", said.list);
    this.more = [];
    this.sought = new Map();
    // The place behind which the next page begins; "" if there is none. `after` is a method of
    // every element.
    this.behind = undefined;
    this.rows = h("nav", { class: "conversation-rows", "aria-label": said.list, "data-testid": "conversations" });
    this.empty = h("p", { class: "none", hidden: true });
    this.again = button(words.say.again, () => (this.found ? this.searched() : this.reload()), { kind: "quiet", hidden: true });
    this.next = button(said.more, async () => (await unlisted()).showMore(this), { kind: "quiet", hidden: true });
    this.search = h("input", { type: "search", class: "input", placeholder: said.search, "aria-label": said.searchLabel, autocomplete: "off", "data-testid": "conversation-search" });
    this.search.addEventListener("input", () => this.searched());
    this.archive = button(said.archived, async () => (await unlisted()).showArchived(this), { kind: "quiet", "aria-pressed": "false" });
    const fresh = button(said.new, () => dispatchEvent(new CustomEvent("new-chat")), { icon: "plus", "data-testid": "new-chat" });
    const leave = () => this.leave();
    const shut = iconButton("close", said.hide, leave, { class: "icon-button list-close" });
    const back = iconButton("back", words.say.back, leave, { class: "icon-button list-back", "data-testid": "list-back" });
    // A press beside its parts leaves the focus in it, so that Escape closes it.
    this.panel = h("div", { class: "conversation-panel", id: "conversation-list", tabindex: "-1" });
    this.panel.append(h("div", { class: "conversation-head" }, back, fresh, shut), this.search, this.rows, this.empty, this.again, this.next, this.archive);
    this.opener = iconButton("list", said.list, () => this.fold(!this.isFolded()), {
      "data-testid": "list-open",
      "aria-controls": "conversation-list",
    });
    this.veil = h("div", { class: "conversation-veil" });
    this.veil.addEventListener("click", leave);
    this.replaceChildren(this.veil, this.panel);
    this.wide = matchMedia("(min-width: 64.01rem)");
    this.wide.addEventListener("change", () => this.adopt());
    this.adopt();
    addEventListener("fold-list", () => this.fold(!this.isFolded()));
    addEventListener("search-conversations", () => {
      this.fold(false);
      this.search.focus();
    });
    this.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** The list's way to the server, and the way to a conversation. */
  connect(context) {
    this.context = context;
    addEventListener("visibilitychange", () => !document.hidden && this.reload());
  }

  reload() {
    return this.context.session.lists.load("conversations");
  }

  set data(workspace) {
    this.workspace = workspace;
    const list = mainState(workspace).lists.conversations;
    const isNews = list !== this.listed;
    // While an answer is written nothing of it is shown here.
    if (!isNews && workspace.shown === this.current) return;
    Object.assign(this, { listed: list, current: workspace.shown });
    if (isNews) {
      this.more = [];
      this.behind = undefined;
      if (this.away) unlisted().then(({ loadArchived }) => loadArchived(this));
    }
    this.show();
  }

  /** The title of a conversation, as far as it is known. One with messages that is not in the list was put away, or is old: it is looked for, and `told()` called. */
  titleOf(conversation, told) {
    const known = [...this.entries(), ...(this.away?.conversations ?? [])].find(({ id }) => id === conversation) ?? this.sought.get(conversation);
    const { main, states } = this.workspace ?? {};
    if (!known && conversation !== main && this.listed?.entries && states.get(conversation)?.items.size > 0) {
      this.sought.set(conversation, {});
      unlisted().then(({ seek }) => seek(this, conversation)).then(told, () => {});
    }
    return known && (known.title || words.dock.conversation(conversation));
  }

  entries() {
    const { conversations = [] } = this.workspace ? (mainState(this.workspace).lists.conversations?.entries ?? {}) : {};
    const known = new Set(conversations.map(({ id }) => id));
    return [...conversations, ...this.more.filter(({ id }) => !known.has(id))];
  }

  show() {
    if (!this.workspace || !this.context) return;
    const { shown } = this.workspace;
    const listed = mainState(this.workspace).lists.conversations ?? {};
    const error = this.found ? this.problem : (this.away ?? listed).error;
    const list = this.found ?? groupedRows(this.away?.conversations ?? this.entries(), Date.now());
    const at = [...this.rows.children].findIndex((node) => node.contains(document.activeElement));
    keyed(this.rows, list.map((row) => ({ ...row, current: row.id === shown && row.kind === "conversation" })), (row) => this.make(row));
    // One that was deleted or put away leaves the focus on the next one.
    if (at !== -1 && !this.rows.contains(document.activeElement)) ([...this.rows.children].slice(at).find((node) => node.querySelector("a")) ?? this).querySelector("a, input").focus();
    const nothing = this.found ? said.nothingFound(this.search.value.trim()) : this.away ? said.noneArchived : said.none;
    this.empty.textContent = error ?? nothing;
    if (!error && this.again.contains(document.activeElement)) this.panel.focus();
    this.again.hidden = !error;
    this.empty.hidden = !error && (list.length > 0 || !(this.found ?? this.away ?? listed.entries));
    this.behind ??= listed.entries?.next;
    this.next.hidden = Boolean(this.found) || !(this.away ?? { next: this.behind }).next;
  }

  make(row) {
    if (row.kind === "group") return h("h2", { class: "conversation-group" }, said[row.group]);
    const entry = document.createElement(row.kind === "found" ? "l3-found" : "l3-conversation");
    entry.context = this.context;
    entry.reload = () => this.reload();
    return entry;
  }

  /** Looks for what was typed, a moment after the last key. An answer that comes too late is dropped. */
  searched() {
    clearTimeout(this.waits);
    this.looked();
    const text = this.search.value.trim();
    if (text === "") {
      this.found = undefined;
      this.show();
      return;
    }
    this.waits = setTimeout(async () => {
      this.looking = skeleton(3, () => this.unsearch(), true);
      this.search.after(this.looking);
      const code = import("./found.js").catch(() => Promise.reject(new Error(words.say.notLoaded)));
      const asked = Promise.all([this.context.session.api.search(text), code]);
      const [rows, problem] = await asked.then(([{ found }, { searchRows }]) => [searchRows(found)], ({ message }) => [[], message]);
      if (this.search.value.trim() !== text) return;
      this.looked();
      Object.assign(this, { found: rows, problem });
      this.show();
    }, SEARCH_MS);
  }

  /** The lines of a search go. The focus, if it is in them, goes to the field. */
  looked() {
    if (this.looking?.contains(document.activeElement)) this.search.focus();
    this.looking?.remove();
  }

  unsearch() {
    this.search.value = "";
    this.searched();
  }

  pressed(event) {
    if (event.key === "Escape" && (this.search.value !== "" || !this.wide.matches)) {
      event.preventDefault();
      if (this.search.value === "") this.leave();
      this.unsearch();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const links = [this.search, ...this.rows.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    links[Math.min(Math.max(at + step, 0), links.length - 1)].focus();
  }

  isFolded() {
    return this.dataset.folded === "true";
  }

  /** Beside the column the list is there unless it was folded away; over it, it is shown when asked for. */
  adopt() {
    this.fold(this.wide.matches ? setting("listFolded", false) : true, false);
  }

  fold(folded, isChosen = true) {
    if (folded && this.panel.contains(document.activeElement)) this.opener.focus();
    this.dataset.folded = String(folded);
    this.opener.setAttribute("aria-expanded", String(!folded));
    if (isChosen && this.wide.matches) set("listFolded", folded);
    this.watch?.destroy();
    // Over the column it goes when a phone goes back.
    this.watch = folded || this.wide.matches || !globalThis.CloseWatcher ? undefined : new CloseWatcher();
    if (this.watch) this.watch.onclose = () => this.leave();
    if (isChosen && !folded && !this.wide.matches) this.search.focus();
  }

  leave() {
    this.fold(true);
    this.opener.focus();
  }

  /** A conversation was chosen: what lies over the column goes. */
  close() {
    if (!this.wide.matches) this.fold(true, false);
  }
}

/** `<l3-conversation>`: one entry; `data` is a row of `groupedRows`. */
export class ConversationEntry extends HTMLElement {
  set data(row) {
    const { id, title, running, waiting: waits, current } = row;
    const name = title || words.dock.conversation(id);
    const state = waits ? "waits" : running ? "runs" : "";
    const link = h("a", { href: `#chat/${id}`, "aria-current": current ? "true" : undefined, title: name });
    link.append(h("span", { class: "conversation-title", dir: "auto" }, name));
    if (state)
      link.append(h("span", { class: "conversation-state", "data-state": state }, h("span", { class: "visually-hidden" }, said[waits ? "waiting" : "running"])));
    const menu = async (anchor) => (await import("./conversation-menu.js")).conversationMenu(anchor, row, this);
    const open = iconButton("more", said.menu(name), menu, { "aria-haspopup": "menu" });
    const had = this.contains(document.activeElement) ? document.activeElement.nodeName : undefined;
    this.replaceChildren(link, open);
    if (had) this.querySelector(had.toLowerCase())?.focus();
  }
}

customElements.define("l3-conversations", Conversations);
customElements.define("l3-conversation", ConversationEntry);
