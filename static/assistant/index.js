// Assistant: Lea and Law side by side, and the chat with one of them beside the to-dos that both
// keep. `#assistant/lea` goes to one.

import { withTodo } from "../core/api-todo.js";
import { withWork } from "../core/api-work.js";
import { CHARACTERS, conversationsOf } from "../core/characters.js";
import { h } from "../core/dom.js";
import { styles } from "../core/styles.js";
import { reasonOf } from "../core/words.js";
import { mainState, shownState } from "../core/workspace.js";
import { button, iconButton } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { segmented } from "../ui/forms.js";
import { errorState, waitingFor } from "../ui/states.js";
import { createPanel } from "./panel.js";
import { picker } from "./picker.js";
import { chatRows } from "./rows.js";
import { said } from "./words.js";

let here;

/** Puts the place into `host`. */
export async function mount(host, context) {
  await styles(import.meta.url, "../ui/question.css", "assistant.css");
  here = { host, context: { ...context, session: withTodo(withWork(context.session)) }, gone: undefined };
}

/** Shows both, or the one whom the address names. */
export function show([name] = []) {
  leave();
  const { host, context } = here;
  const gone = new AbortController();
  here.gone = gone;
  if (CHARACTERS.includes(name)) {
    const calls = here.calls;
    here.calls = false;
    return new Talking(host, context, name, gone.signal, calls).open();
  }
  pick(host, context, name, gone.signal);
  return undefined;
}

/** Takes it out; what a person looks at is the main conversation again. */
export function unmount() {
  leave();
  here = undefined;
}

function leave() {
  here.gone?.abort();
  here.host.replaceChildren();
  here.context.session.open(undefined);
}

function pick(host, { session, setTitle, setLead, go }, missing, signal) {
  // The call begins when Law is there.
  const { node, show: tell } = picker(missing, () => ((here.calls = true), go("assistant", "law")), signal);
  setTitle(said.back);
  setLead(undefined);
  host.append(node);
  const told = (workspace) => {
    const known = mainState(workspace).lists.timer?.entries;
    tell(known?.allowances, known?.hears);
  };
  session.store.subscribe(told, signal);
  told(session.store.getState());
}

class Talking {
  constructor(host, context, name, signal, calls) {
    Object.assign(this, { host, context, name, signal, calls, session: context.session });
    const { setTitle, setLead, go } = context;
    setTitle(said.names[name]);
    setLead(iconButton("back", said.back, () => go("assistant"), { "data-testid": "to-picker" }));
  }

  /** Opens the conversation; the first use of a character makes it. */
  async open() {
    const { host, session, name, signal } = this;
    const waits = h("div", { class: "sheet" }, waitingFor(() => this.open(), 4));
    host.replaceChildren(waits);
    try {
      this.conversation = await conversationWith(session, name);
      if (signal.aborted) return;
      await session.open(this.conversation);
      if (signal.aborted) return;
      waits.remove();
      await this.build();
    } catch (error) {
      if (!signal.aborted) host.replaceChildren(h("div", { class: "sheet" }, errorState(said.opening(reasonOf(error)), () => this.open())));
    }
  }

  async build() {
    const { context, session, name, signal } = this;
    this.left = h("span", { class: "talk-left", "data-testid": "messages-left" });
    const view = segmented(said.view, [["chat", said.chat], ["todos", said.todos]], "chat", (value) => this.turn(value));
    view.classList.add("talk-view");
    this.view = view;
    const bar = h("div", { class: "talk-bar" }, h("span", { class: "talk-look", "aria-hidden": "true" }, said.looks[name]), this.left, view, button(h("span", {}, said.anew), () => this.anew(), { kind: "quiet", icon: "retry", title: said.anew, "data-testid": "anew" }));
    const chat = h("div", { class: "talk-chat" });
    this.panel = createPanel({ session, profile: name, announce: context.announce, asked: () => this.asked(), signal });
    const call = h("div", { class: "talk-call" });
    this.node = h("div", { class: "talking", "data-character": name, "data-view": "chat" }, bar, call, h("div", { class: "talk-body" }, chat, this.panel.node));
    this.host.replaceChildren(this.node);
    const rowsOf = (rows, state) => (this.rows = chatRows(rows, state, said.names[name]));
    const { [name]: placeholder } = said.placeholder;
    this.talk = await context.talk(chat, { context, signal, name, placeholder, rowsOf, greeting: said.greetings[name], suggestions: said.suggestions });
    if (signal.aborted) return;
    session.store.subscribe((workspace) => this.told(workspace), signal);
    this.told(session.store.getState());
    if (name === "law") await this.voice(call);
  }

  /** Law can be called; without the code for that one can still write. */
  async voice(host) {
    const voice = await this.context.voice(this.context).catch((error) => console.error("calls cannot be had", error));
    if (!voice || this.signal.aborted) return;
    voice.attach(host, this.signal);
    if (this.calls) voice.start();
  }

  told(workspace) {
    const { conversation, session } = this;
    const { main, shown } = workspace;
    const state = shownState(workspace);
    const isUp = state.connection.status === "connected";
    if (isUp && main !== null && (shown !== conversation || (conversation !== main && state.historyAfter === null))) this.again();
    if (shown !== conversation) return;
    this.talk.show(workspace);
    this.panel.show(workspace);
    this.panel.asks(this.rows.filter(({ kind, state: how, shown: asked }) => kind === "approval" && how === "pending" && asked?.question));
    this.tellLeft(mainState(workspace).lists.timer?.entries?.allowances);
    // Each message that is accepted counts.
    const count = state.turns.size;
    if (isUp && this.count !== undefined && this.count !== count) session.lists.load("timer");
    this.count = count;
    this.refused(state);
  }

  /** The line broke before the conversation was there, or the server has another past. */
  async again() {
    if (this.opening) return;
    this.opening = true;
    try {
      this.conversation = await conversationWith(this.session, this.name);
      if (!this.signal.aborted) await this.session.open(this.conversation);
    } catch {
      // The line says that it is down; with the next one it is tried again.
    }
    this.opening = false;
  }

  tellLeft(allowances) {
    const left = allowances?.messages_left;
    const isBound = left !== null && left !== undefined;
    this.left.replaceChildren(...(isBound ? [h("span", { class: "left-long" }, said.left(left)), h("span", { class: "left-short", "aria-hidden": "true" }, said.leftShort(left))] : []));
    this.left.toggleAttribute("data-few", left <= 10);
  }

  /** A message beyond the limit is kept in the field, and the limit is told. */
  async refused({ outbox }) {
    const entry = outbox.find(({ upgrade }) => upgrade);
    if (!entry) return;
    this.session.take(entry.id);
    this.talk.giveBack(entry.content, entry.images);
    await this.session.lists.load("timer");
    const { openUpgrade } = await import("./upgrade.js");
    const { allowances } = mainState(this.session.store.getState()).lists.timer?.entries ?? {};
    if (!this.signal.aborted) openUpgrade(entry.error, allowances, this.context.isMember());
  }

  /** A press in the panel made a question, which stands in the chat, or above the list where the chat is not in sight. */
  asked() {
    this.context.announce(said.asked);
    this.talk.toQuestion();
    this.panel.node.scrollTop = 0;
  }

  turn(view) {
    this.node.dataset.view = view;
    if (view === "chat") this.talk.toEnd();
  }

  anew() {
    const { session, name, context } = this;
    const action = async () => {
      await session.api.beginAnew(name);
      context.announce(said.anewDone);
    };
    ask({ title: said.anewTitle(said.names[name]), text: said.anewText, yes: said.anew, action });
  }
}

/** The number of the conversation with a character; one that was never used is made. */
async function conversationWith(session, name) {
  const known = () => conversationsOf(session.store.getState())[name];
  if (known() === undefined) await load(session);
  if (known() === undefined) {
    await session.api.beginAnew(name);
    await load(session);
  }
  return known();
}

async function load({ lists, store }) {
  await lists.load("timer");
  const { error, entries } = mainState(store.getState()).lists.timer ?? {};
  if (!entries) throw new Error(error);
}
