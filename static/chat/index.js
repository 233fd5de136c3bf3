// Chat: the list of conversations, and the one that is shown.

import { placeOf } from "../core/characters.js";
import { waiting } from "../core/state-law.js";
import { set, setting } from "../core/settings.js";
import { styles } from "../core/styles.js";
import { words } from "../core/words.js";
import { isLookedAt, mainState, shownState, together } from "../core/workspace.js";
import { h } from "../core/dom.js";
import { composerData } from "./composer-data.js";
import { createDrafts } from "./draft.js";
import { greetingOf, isBegun } from "./greetings.js";
import { prepare } from "./row-elements.js";
import "./composer.js";
import "./conversations.js";
import "./messages.js";

const OWN_STYLES = ["messages.css", "composer.css", "chat.css"];
/** How many conversations keep their rows in the page, so that going back to one is instant. */
const KEPT_LISTS = 4;

let chat;

/** Puts Chat into `host`. */
export async function mount(host, context) {
  await styles(import.meta.url, ...OWN_STYLES);
  chat = new Chat(host, context);
}

/** Shows the conversation of the address; without a number the main one. */
export const show = (parts) => chat?.show(parts);

/** Takes Chat out. The shell keeps it as a rule; drafts and messages are safe either way. */
export function unmount() {
  chat?.gone.abort();
  chat = undefined;
}

/** A conversation in another place, with the same rows and the same field: see `talk.js`. */
export const talk = async (...all) => (await import("./talk.js")).createTalk(...all);

class Chat {
  constructor(host, context) {
    const { session, storage } = context;
    Object.assign(this, { host, context, session });
    this.gone = new AbortController();
    /** conversation → its `l3-messages`, the one shown last at the end. */
    this.lists = new Map();
    /** Conversations that could not be opened: not tried again until a person goes there again. */
    this.failed = new Set();
    this.conversations = document.createElement("l3-conversations");
    this.composer = document.createElement("l3-composer");
    this.column = h("div", { class: "column" }, this.composer);
    host.append(this.conversations, this.column);
    this.composer.drafts = createDrafts(storage);
    this.conversations.connect(context);
    this.origins = () => [];
    /** The rows of a state; nothing until their code has come, with the first there are. */
    this.rows = undefined;
    /** The main conversation, if something was said in it, now or before this load. */
    this.begun = setting("begun");
    this.listen();
    session.store.subscribe((workspace) => this.gone.signal.aborted || this.told(workspace));
    this.told(session.store.getState());
  }

  on(target, type, action) {
    target.addEventListener(type, action, { signal: this.gone.signal });
  }

  listen() {
    const { session, host, composer } = this;
    this.on(host, "send-message", ({ detail }) => {
      session.send(detail);
      this.messages.toEnd();
    });
    this.on(host, "stop-turns", () => session.stop());
    this.on(host, "decide", ({ detail }) => session.decide(detail));
    this.on(host, "undo-call", ({ detail: { call, resolve, reject } }) => session.api.undo(call).then(resolve, reject));
    this.on(host, "load-earlier", ({ detail: done }) => this.earlier().finally(done));
    this.on(host, "dismiss-message", ({ detail: id }) => session.take(id));
    this.on(host, "dismiss-notice", ({ detail: key }) => {
      session.store.dispatch({ type: "@dismiss", key, conversation: session.store.getState().shown });
    });
    this.on(host, "edit-message", ({ detail: id }) => {
      const entry = session.take(id);
      if (entry) composer.giveBack(entry.content, entry.images);
      composer.text.focus();
    });
    for (const again of ["branch", "retry", "edit"]) this.on(host, `${again}-turn`, ({ detail }) => this.again(again, detail));
    this.on(host, "write-this", ({ detail }) => (composer.giveBack(detail), composer.text.focus()));
    this.on(globalThis, "see-approval", () => this.context.isShown("chat") && this.messages.toApproval());
    this.on(globalThis, "write-message", () => composer.text.focus());
    this.on(globalThis, "go-turn", ({ detail }) => this.context.isShown("chat") && this.messages.toTurn(detail));
    this.on(globalThis, "find-here", (event) => this.find(event));
    // Files may be dropped anywhere; without this the browser would leave the page for them.
    this.on(globalThis, "dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
    this.on(globalThis, "drop", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (this.context.isShown("chat")) composer.add([...event.dataTransfer.files]);
    });
  }

  async show([number, turn, part]) {
    const { store } = this.session;
    const { main, shown } = store.getState();
    const conversation = number === undefined ? main : Number(number);
    if (conversation !== null && !Number.isSafeInteger(conversation)) return this.say(shown, words.conversations.cannot(words.places.unknown(location.hash)));
    this.failed.delete(conversation);
    this.conversations.close();
    this.context.setLead(this.conversations.opener);
    await this.open(conversation);
    this.messages.seen();
    this.title(store.getState());
    if (turn !== undefined && conversation !== null) (await import("./to-turn.js")).toTurn(this, conversation, Number(turn), part);
  }

  async open(conversation) {
    this.session.store.dispatch({ type: "@dismiss", key: "said" });
    try {
      await this.session.open(conversation ?? undefined);
    } catch (error) {
      this.failed.add(conversation);
      this.say(conversation, words.conversations.cannot(error.message));
    }
  }

  /** Loads the page before what is known. */
  async earlier() {
    const { createEarlier } = await import("./earlier.js");
    const { api, store } = this.session;
    this.loadEarlier ??= createEarlier({ api, getState: () => shownState(store.getState()), dispatch: store.dispatch });
    await this.loadEarlier();
  }

  /** The browser finds what is in the page; if some rows are not, Chat looks itself, and the browser when the keys are pressed once more. */
  find(event) {
    if (!this.context.isShown("chat") || this.finder?.isOpen || !this.messages.isPartial) return;
    event.preventDefault();
    import("./find.js").then(({ createFinder }) => (this.finder ??= createFinder(this)).open());
  }

  /** A turn once more: `branch`, `retry` or `edit`. */
  async again(action, row) {
    const { createAgain } = await import("./again.js");
    const { session, context } = this;
    const said = (text) => this.say(session.store.getState().shown, text);
    createAgain({ session, go: (conversation) => context.go("chat", String(conversation)), said })[action](row);
  }

  /** Says what could not be done here, until something else is said or a conversation is opened. */
  say(conversation, content) {
    this.session.store.dispatch({ type: "error", key: "said", conversation, content });
  }

  told(workspace) {
    const { shown, main } = workspace;
    // A conversation with a place of its own is shown there.
    if (!this.context.isShown("chat") && placeOf(workspace, shown)) return;
    const state = shownState(workspace);
    // Parts that could not be loaded over a broken line can be, now that it is whole.
    const { status } = state.connection;
    if (status === "connected" && this.status !== status) this.failed.clear();
    this.status = status;
    // An address may name a conversation before the line is up.
    if (main !== null && shown !== main && state.historyAfter === null && !this.failed.has(shown)) this.open(shown);
    const begun = isBegun(state);
    const isSaid = begun || state.hello?.last_seq > 0;
    // `shell/early.js` asks from now on for the code of rows, read here while the line opens. A
    // talk with a character belongs elsewhere.
    if (isSaid && main && this.begun !== main && !placeOf(workspace, main)) set("begun", (this.begun = main));
    if (isSaid || this.begun) this.prepare();
    this.list(shown);
    if (state.from) this.loadOrigins();
    const retried = () => this.retried(state, shown, mainState(workspace).lists.conversations?.entries?.conversations);
    const all = [...this.origins(state), ...(this.rows?.(state, retried()) ?? [])];
    const isEmpty = all.length === 0 && (this.rows || !begun) && isLookedAt(workspace);
    this.messages.data = {
      rows: all,
      hasEarlier: state.historyAfter > 0,
      greeting: isEmpty ? greetingOf(state.hello) : undefined,
      waits: waiting(state).map(({ key }) => key),
      again: this.failed.has(shown) ? undefined : () => this.open(this.session.store.getState().shown),
    };
    this.composer.data = composerData(state, isEmpty, isEmpty ? together(workspace) : state);
    this.conversations.data = workspace;
    this.title(workspace);
  }

  /** The code of rows comes beside what they show, not after it. If it cannot be had, it is asked for again with the next news. */
  prepare() {
    const load = async () => {
      prepare();
      const [{ turnRows }, { createRetried }] = await Promise.all([import("./turns.js"), import("./retried.js")]);
      this.retried = createRetried(this.session.api, () => this.told(this.session.store.getState()));
      this.rows = turnRows;
      this.told(this.session.store.getState());
    };
    return (this.prepared ??= load().catch(() => (this.prepared = undefined)));
  }

  /** A part that comes with the first branch tells of the turns that a branch goes on from. */
  async loadOrigins() {
    this.loadOrigins = () => {};
    const { createOrigins } = await import("./origin.js");
    const told = () => this.told(this.session.store.getState());
    this.origins = createOrigins({ api: this.session.api, told });
    told();
  }

  title(workspace) {
    if (!this.context.isShown("chat")) return;
    const known = this.conversations.titleOf(workspace.shown, () => this.title(this.session.store.getState()));
    this.context.setTitle(known ?? (workspace.shown === workspace.main ? words.places.chat : words.conversations.untitled));
  }

  get messages() {
    return this.list(this.session.store.getState().shown);
  }

  /** The rows of a conversation: made once, and kept while others are looked at. */
  list(conversation) {
    // Before the greeting the main conversation has no number.
    const waitsForNumber = this.lists.get(null);
    if (waitsForNumber && conversation !== null) {
      this.lists.delete(null);
      if (!this.lists.has(conversation)) this.lists.set(conversation, waitsForNumber);
      else waitsForNumber.remove();
    }
    let list = this.lists.get(conversation);
    if (list && this.current === list) return list;
    if (!list) {
      list = document.createElement("l3-messages");
      this.column.prepend(list);
    }
    this.lists.delete(conversation);
    this.lists.set(conversation, list);
    for (const each of this.lists.values()) each.hidden = each !== list;
    this.current = list;
    list.seen();
    if (this.lists.size > KEPT_LISTS) {
      const [oldest, node] = this.lists.entries().next().value;
      node.remove();
      this.lists.delete(oldest);
    }
    return list;
  }
}
