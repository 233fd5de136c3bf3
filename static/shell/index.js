// Puts the page together: the session, the rail, the line above, the dock, and the place that the
// address names.

import { parseAddress } from "../core/address.js";
import { placeOf } from "../core/characters.js";
import { createSession } from "../core/session.js";
import { setting } from "../core/settings.js";
import { LANGUAGES, language, words } from "../core/words.js";
import { mainState, waitingEverywhere } from "../core/workspace.js";
import { createAttention } from "./attention.js";
import { dockRows } from "./live.js";
import { PLACES, placesFor, talk, voice } from "./places.js";
import { createRouter } from "./router.js";
import { listenForKeys } from "./shortcuts.js";
import { createWho } from "./who.js";
import "./banners.js";
import "./dock.js";
import "./header.js";
import "./rail.js";

document.documentElement.lang = language;
document.documentElement.dir = LANGUAGES[language].dir;

const part = (name) => document.querySelector(name);
const rail = part("l3-rail");
const header = part("l3-header");
const banners = part("l3-banners");
const dock = part("l3-dock");
const main = part("main");

const storage = tabStorage();
const address = new URL("/chat", location.href);
address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
const session = createSession({ storage, url: address.href });
const { store } = session;
let place = PLACES[0];
const who = createWho(storage);
const places = () => placesFor(who.isMember());
const inChat = () => place?.id === "chat";
/** In these places a person looks at a conversation, and writes. */
const inTalk = () => inChat() || (place?.id === "assistant" && parseAddress(location.hash).parts.length > 0);
const announce = (text) => (part("#announcer").textContent = text);
const context = { session, storage, announce, talk, voice, isMember: who.isMember, setTitle: (title) => (header.title_ = title), setLead: (node) => (header.leading = node), isShown: (id) => place?.id === id };
const router = createRouter({ places, host: main, context, arrived, instead });

function arrived(next) {
  place = next;
  document.body.dataset.place = next?.id ?? "unknown";
  header.title_ = next?.title ?? words.places.nowhere;
  header.leading = undefined;
  if (next?.accent) document.body.style.setProperty("--place-accent", next.accent);
  else document.body.style.removeProperty("--place-accent");
  show(store.getState());
  attention(store.getState());
}

/** A conversation that has a place of its own stands there. */
function instead(id, [conversation, turn]) {
  return id === "chat" ? placeOf(store.getState(), Number(conversation), turn) : undefined;
}

function show(workspace) {
  rail.data = { current: place?.under ?? place?.id, badges: Object.fromEntries(places().map(({ id, badge }) => [id, badge?.(workspace) ?? 0])) };
  // In the inbox all that waits is in sight.
  dock.data = dockRows(workspace, inTalk()).filter(({ kind }) => kind !== "waits" || place?.id !== "approvals");
}

function showLine(workspace) {
  const { hello, connection } = mainState(workspace);
  header.data = { hello, connection, waits: waitingEverywhere(workspace) };
}

rail.places = places();
showLine(store.getState());
const attention = createAttention({ name: () => (inChat() || !place ? words.name : `${place.title} · ${words.name}`) });
// Each part of the page is told by itself: one that breaks takes no other with it.
store.subscribe(show);
store.subscribe(showLine);
let status;
let news;
store.subscribe((workspace) => {
  const { connection, hello, historyAfter } = mainState(workspace);
  const isUp = connection.status === "connected";
  // Nobody waits for this when the page opens: it comes behind the first words.
  if (isUp && historyAfter !== null) news ??= import("./news.js").then(({ listenForNews }) => listenForNews({ session, announce, node: part("#announcer") }));
  // The dock and the palette name conversations in every place.
  if (isUp && status !== "connected") {
    if (who.greeted(hello)) otherPlaces();
    session.lists.load("conversations");
  }
  ({ status } = connection);
});
store.subscribe((workspace) => (banners.data = mainState(workspace)));
store.subscribe(attention);

/** Somebody else looks at this tab than was thought: other places are there. */
function otherPlaces() {
  rail.places = places();
  if (places().includes(place)) show(store.getState());
  else if (parseAddress(location.hash).place === "chat") router.go("assistant");
  else router.arrive();
}

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

/** Goes to a conversation, by default the main one, where it stands. */
function toChat(conversation) {
  const own = placeOf(store.getState(), conversation ?? store.getState().main);
  if (who.isMember() || own) router.go(...(own ?? ["assistant"]));
  else router.go("chat", ...(conversation === null || conversation === undefined ? [] : [String(conversation)]));
}

/** Makes a conversation and goes there; an empty one that is shown is taken for it. */
async function newChat() {
  if (who.isMember()) {
    router.go("assistant");
    return;
  }
  const { main: mainId, shown, states } = store.getState();
  const state = states.get(shown);
  const isEmpty = shown !== mainId && state?.historyAfter === 0 && state.items.size === 0;
  if (!isEmpty) {
    try {
      toChat((await session.api.newConversation()).conversation);
      session.lists.load("conversations");
    } catch (error) {
      store.dispatch({ type: "error", content: error.message });
    }
  } else if (!inChat()) toChat(shown);
  dispatchEvent(new CustomEvent("write-message"));
}

/** Goes to the approval that waits, by code that comes when there is one; to the inbox, if that cannot be had. */
const toApproval = ({ detail }) => import("./to-approval.js").then(({ goToApproval }) => goToApproval(detail, { session, router, inTalk, toChat })).catch(() => router.go("approvals"));

const actions = {
  palette: async () => (await import("./palette.js")).openPalette({ places: places(), member: who.isMember(), workspace: store.getState(), go: router.go, actions, inChat: inChat(), search: session.api.search }),
  new: newChat,
  search: () => (inChat() || toChat(store.getState().shown), dispatchEvent(new CustomEvent("search-conversations"))),
  write: () => (inTalk() || toChat(store.getState().shown), dispatchEvent(new CustomEvent("write-message"))),
  list: () => dispatchEvent(new CustomEvent("fold-list")),
  stop: () => session.stop(),
};
listenForKeys({ actions, session, inChat: inTalk });

addEventListener("go", ({ detail }) => router.go(detail));
addEventListener("go-conversation", ({ detail }) => toChat(detail));
addEventListener("stop-conversation", ({ detail }) => session.stop(detail));
addEventListener("new-chat", newChat);
addEventListener("show-approval", toApproval);
addEventListener("open-palette", actions.palette);
addEventListener("retry", session.retry);
addEventListener("online", session.retry);
addEventListener("visibilitychange", () => !document.hidden && session.retry());
part(".skip").textContent = words.skip;
part(".skip").addEventListener("click", (event) => {
  // An address of its own would be taken for a place.
  event.preventDefault();
  if (inTalk() && part(".place:not([hidden]) l3-composer")) dispatchEvent(new CustomEvent("write-message"));
  else part(".place:not([hidden])")?.focus();
});

// A screen that is not touched has no keyboard on it.
if (navigator.maxTouchPoints > 0) import("./viewport.js").then(({ fitKeyboard }) => fitKeyboard());
// `shell/early.js` has asked for this already.
const begun = setting("begun");
if (/^#?(chat)?$/.test(location.hash) && Number.isInteger(begun) && !who.isMember()) session.begin(begun);
// The place first: what comes in by the line finds where it is shown. A place that asks for what is
// the owner's waits until it is known who is there.
if (who.isKnown() || /^(#chat\b|#?$)/.test(location.hash)) router.arrive().finally(() => session.start());
else {
  const known = new AbortController();
  store.subscribe((workspace) => {
    if (mainState(workspace).connection.status === "connecting" || known.signal.aborted) return;
    known.abort();
    router.arrive();
  }, known.signal);
  session.start();
}
