// Puts the page together: the store, the connection, and the components that show the one and feed the other.

import { announcer } from "./announcer.js";
import { createApi } from "./api.js";
import { Connection } from "./connection.js";
import { createDrafts } from "./draft.js";
import { createEarlier } from "./earlier.js";
import { decidingWords } from "./format.js";
import { blindness } from "./images.js";
import { createLists } from "./lists.js";
import { loadOutbox, newId, saveOutbox } from "./outbox.js";
import { waiting } from "./state-law.js";
import { hasEnded } from "./state-parts.js";
import { isBusy } from "./state.js";
import { createStore } from "./store.js";
import { capabilityList, rows, taskLists } from "./view.js";
import "./components/banners.js";
import "./components/composer.js";
import "./components/header.js";
import "./components/messages.js";
import "./components/panel.js";

const TOUR_SUGGESTIONS = ["Build a capability", "Run some SQL", "Make a task due in 20 seconds", "Show me everything"];
const FIRST_SUGGESTIONS = [
  "Build a capability that converts numbers to Roman numerals, then try it",
  "Make a table of my books and add three of them",
  "Remind me in one minute to stretch",
];
const GREETINGS = {
  model: {
    title: "What should it be able to do?",
    body: "Ask for something. If there is no tool for it yet, the assistant writes one, tests it in a sandbox and uses it right away.",
  },
  tour: {
    title: "See what it can do",
    body:
      "Choose one of the suggestions below. Only the model is a stand-in: the capability, the sandbox, the database and the task that " +
      "wakes the assistant are the real ones.",
  },
};

const storage = tabStorage();
const store = createStore();
const address = new URL("/chat", location.href);
address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
const connection = new Connection({ url: address.href, dispatch: store.dispatch, getState: store.getState });

const part = (name) => document.querySelector(name);
const header = part("l3-header");
const banners = part("l3-banners");
const messages = part("l3-messages");
const composer = part("l3-composer");
const panel = part("l3-panel");

composer.drafts = createDrafts(storage);

const api = createApi();
const lists = createLists({ api, dispatch: store.dispatch, opened: (kind) => panel.isOpen(kind) });
panel.connect({ api, load: lists.load });

// Each part of the page is told by itself: one that breaks takes no other with it.
store.subscribe((state) => {
  const waits = waiting(state).length + state.elsewhere.ids.length;
  document.title = waits > 0 ? "Approval needed · level3" : "level3";
  header.data = { hello: state.hello, connection: state.connection, waits };
});
store.subscribe((state) => (banners.data = state));
store.subscribe((state) => {
  messages.data = { rows: rows(state), hasEarlier: state.historyAfter > 0, greeting: greetingOf(state.hello) };
});
store.subscribe((state) => (composer.data = composerData(state, rows(state).length === 0)));
store.subscribe((state) => {
  const { secrets, usage } = state.lists;
  panel.data = { ...taskLists(state), capabilities: capabilityList(state), secrets, usage };
});
store.subscribe(lists.changed);
store.subscribe(announcer(part("#announcer")));

let keptOutbox = [];
store.subscribe(({ outbox }) => {
  if (outbox === keptOutbox) return;
  keptOutbox = outbox;
  saveOutbox(storage, outbox);
});

/** The tab's storage; where the browser forbids it, one that lasts as long as the page. */
function tabStorage() {
  try {
    return globalThis.sessionStorage;
  } catch {
    const kept = new Map();
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => kept.set(key, value),
      removeItem: (key) => kept.delete(key),
    };
  }
}

function composerData(state, isEmpty) {
  const turns = [...state.turns.values()];
  const suggestions =
    state.hello?.model.kind === "tour" ? TOUR_SUGGESTIONS : isEmpty && state.hello ? FIRST_SUGGESTIONS : [];
  return {
    busy: isBusy(state),
    stopping: turns.some((turn) => turn.stopping && !hasEnded(turn)),
    waits: waiting(state).length,
    words: decidingWords(waiting(state)[0]?.shown?.words),
    declines: waiting(state)[0]?.shown?.words?.others_decline === true,
    connected: state.connection.status === "connected",
    suggestions,
    conversation: state.hello?.conversation,
    blind: blindness(state.hello),
  };
}

function greetingOf(hello) {
  if (!hello) return undefined;
  return hello.model.kind === "tour" ? GREETINGS.tour : GREETINGS.model;
}

function setOutbox(entries) {
  store.dispatch({ type: "@outbox", entries });
  // At once, not with the next frame: a reload in between must not lose a message.
  saveOutbox(storage, entries);
}

function takeFromOutbox(id) {
  const { outbox } = store.getState();
  setOutbox(outbox.filter((entry) => entry.id !== id));
  return outbox.find((entry) => entry.id === id);
}

addEventListener("send-message", ({ detail: { content, steer, images } }) => {
  const entry = { id: newId(), content, steer, images, status: "sending" };
  setOutbox([...store.getState().outbox, entry]);
  connection.sendMessage(entry);
  messages.toEnd();
});
addEventListener("stop-turns", () => connection.sendStop() && store.dispatch({ type: "@stopping" }));
addEventListener("decide", ({ detail: { approval, decision, reason } }) => {
  if (connection.sendDecision(approval, decision, reason)) store.dispatch({ type: "@deciding", approval, decision });
});
addEventListener("undo-call", ({ detail: { call, resolve, reject } }) => api.undo(call).then(resolve, reject));
addEventListener("show-approval", () => messages.toApproval());
addEventListener("list-opened", ({ detail: kind }) => lists.load(kind));
addEventListener("edit-message", ({ detail: id }) => {
  const entry = takeFromOutbox(id);
  if (entry) composer.giveBack(entry.content, entry.images);
  composer.text.focus();
});
// Files may be dropped anywhere; without this the browser would leave the page for them.
addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
addEventListener("drop", (event) => {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  composer.add([...event.dataTransfer.files]);
});
addEventListener("dismiss-message", ({ detail: id }) => takeFromOutbox(id));
addEventListener("dismiss-notice", ({ detail: key }) => store.dispatch({ type: "@dismiss", key }));
addEventListener("load-earlier", createEarlier({ api, getState: store.getState, dispatch: store.dispatch }));
addEventListener("retry", () => connection.retryNow());
addEventListener("online", () => connection.retryNow());
addEventListener("visibilitychange", () => !document.hidden && connection.retryNow());

/** On a wide window the panel stands beside the conversation, on a narrow one it opens above it. */
const wide = matchMedia("(min-width: 64rem)");
function showPanel(open) {
  document.body.dataset.panel = open ? "open" : "closed";
  header.toggle.setAttribute("aria-expanded", String(open));
}
showPanel(wide.matches);
wide.addEventListener("change", () => showPanel(wide.matches));
addEventListener("panel-toggle", () => {
  showPanel(document.body.dataset.panel !== "open");
  if (!wide.matches)
    (document.body.dataset.panel === "open" ? panel.querySelector(".panel-close") : header.toggle).focus();
});
part("main").addEventListener("pointerdown", () => !wide.matches && showPanel(false));
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || wide.matches || document.body.dataset.panel !== "open") return;
  showPanel(false);
  header.toggle.focus();
});

setOutbox(loadOutbox(storage));
connection.open();
