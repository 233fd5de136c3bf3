// Calls with Law, one in a tab. They live above the places: a place shows the call while it is
// open, and else a line above the dock does.

import { callAddress, speechApi, voiceApi } from "../core/api-voice.js";
import { addressOf } from "../core/address.js";
import { set, setting } from "../core/settings.js";
import { styles } from "../core/styles.js";
import { language, words } from "../core/words.js";
import { toast } from "../ui/toast.js";
import { askConsent, askTakeOver, openVoiceUpgrade } from "./asks.js";
import { createCalls } from "./call.js";
import { createIndicator } from "./indicator.js";
import { tagOf } from "./language.js";
import { createCallPanel } from "./panel.js";
import { adaptersFor, chosenAdapter, createVoiceService, installLocally } from "./service.js";
import { said } from "./words.js";

const PAUSE_MS = 1000;
/** The choice of this browser's person who is to hear. */
const ADAPTER = "voice-adapter";
/** Their choice of the language that is talked. */
const LANGUAGE = "voice-language";
const FREE = 403;
const BUSY = 409;
const SPENT = 429;
let one;

/** The calls of this tab: `{ attach(host, signal), start() }`. `attach` shows the call in a place until `signal` is aborted. */
export function callOf(context) {
  one ??= styles(import.meta.url, "voice.css").then(() => make(context));
  return one;
}

/** The tag of the person's language. A page whose language nobody chose is in English, and says nothing of them. */
const lang = () => tagOf({ wanted: setting(LANGUAGE), page: setting("language"), known: navigator.languages });

function make({ session, announce, isMember }) {
  const api = voiceApi(session.api.ask);
  const speech = speechApi();
  const panels = new Set();
  const spoken = { ...said, noModel: language === "en" ? undefined : words.banners.model.first };
  const others = globalThis.BroadcastChannel ? new BroadcastChannel("level3.voice") : undefined;
  const calls = createCalls({ api, store: session.store, follow: (id) => session.follow(id), send: session.send, makeService: ({ adapter, where, room, lang: tag }) => createVoiceService({ lang: tag, adapter, where, room, speech: { ...speech, servers } }), said: spoken, lang, told });
  const hangUp = () => calls.end();
  const back = () => (location.hash = addressOf("assistant", "law"));
  const indicator = createIndicator({ back, end: hangUp, mute: calls.setMuted });
  document.querySelector("l3-dock").before(indicator.node);
  let problem;
  let ended;
  let wasLost = false;
  let permission;
  let known = {};
  let servers;
  /** The call that the server knows of, and those of this tab. */
  let open;
  const mine = new Set();
  let heardOf = "";
  setInterval(() => (calls.view().state === "active" || elsewhere()) && told(calls.view()), PAUSE_MS);
  others?.addEventListener("message", () => calls.look());
  session.store.subscribe(heard);
  addEventListener("pagehide", () => {
    const call = calls.current();
    if (call !== undefined) fetch(callAddress(call), { method: "DELETE", keepalive: true }).catch(() => undefined);
  });

  /** The call of another tab, while there is none here. */
  const elsewhere = () => (calls.view().state === "idle" && open && !mine.has(open.call) ? open : undefined);

  /** The server told of a call: it may be another tab's. */
  function heard({ states }) {
    const now = [...states.values()].map(({ callSeq = 0 }) => callSeq).join();
    if (now === heardOf) return;
    heardOf = now;
    if (panels.size > 0) look();
  }

  function told(view) {
    const isIdle = view.state === "idle";
    if (calls.current() !== undefined) mine.add(calls.current());
    // The page says before anybody calls where the sound would go.
    const shown = { ...view, ...(view.where === undefined || isIdle ? { where: known.where, host: known.host } : {}), elsewhere: elsewhere(), adapters: adaptersFor(servers), adapter: setting(ADAPTER), talks: setting(LANGUAGE), error: view.error ?? (isIdle ? (problem ?? (known.where === "none" ? "unsupported" : undefined)) : undefined) };
    for (const panel of panels) panel.show(shown);
    indicator.show(view, panels.size > 0);
    if (view.ended && view.ended !== ended && panels.size === 0) toast(view.ended);
    ({ ended } = view);
    const isLost = view.state === "error" && view.error === "connection";
    if (isLost && !wasLost) toast(said.connection, { undo: said.retry, action: start });
    wasLost = isLost;
    if (view.error === "denied") whenAllowed(start);
  }

  /** The server says who would hear, and the call of another tab. Without its word, the browser would hear. */
  async function look(line = api.line()) {
    const answer = await Promise.resolve(line).catch(() => undefined);
    if (answer) ({ servers = servers, call: open } = answer);
    known = await chosenAdapter({ lang: lang(), servers, wanted: setting(ADAPTER) });
    told(calls.view());
    return known;
  }

  function tell(error) {
    problem = error;
    told(calls.view());
  }

  /** Goes on by itself once the microphone is allowed. */
  async function whenAllowed(goOn) {
    permission ??= await navigator.permissions?.query({ name: "microphone" }).catch(() => undefined);
    if (!permission) return;
    permission.onchange = () => {
      if (permission.state !== "granted") return;
      permission.onchange = null;
      goOn();
    };
  }

  async function start() {
    if (["connecting", "active"].includes(calls.view().state)) return;
    tell(undefined);
    try {
      const line = await api.line();
      const chosen = await look(line);
      if (!line.voice) openVoiceUpgrade(isMember());
      else if (chosen.where === "none") tell("unsupported");
      else if (line.call) askTakeOver(() => consented(chosen, true));
      else await consented(chosen, false);
    } catch (error) {
      refused(error);
    }
  }

  /** Before the microphone opens, the person knows where the sound goes; what leaves the device is asked about once. */
  async function consented(chosen, takeOver) {
    const { where, host } = chosen;
    // Another host is another question.
    const asked = host === undefined ? where : `${where} ${host}`;
    const goOn = (to) => {
      if (to !== "device") set("voice", asked);
      return allowed({ ...chosen, where: to }, takeOver);
    };
    if (where === "device" || setting("voice") === asked) await goOn(where);
    else askConsent(chosen, goOn, () => installLocally(lang()));
  }

  async function allowed(chosen, takeOver) {
    permission ??= await navigator.permissions?.query({ name: "microphone" }).catch(() => undefined);
    if (permission?.state === "denied") {
      tell("denied");
      await whenAllowed(() => (tell(undefined), allowed(chosen, takeOver)));
      return;
    }
    try {
      await calls.begin({ adapter: chosen.name, where: chosen.where, host: chosen.host, takeOver });
      open = undefined;
      if (takeOver) others?.postMessage("taken over");
    } catch (error) {
      refused(error, () => allowed(chosen, takeOver));
    }
  }

  function refused(error, again = start) {
    if (error.status === FREE) openVoiceUpgrade(isMember());
    else if (error.status === BUSY) start();
    else if (error.status === SPENT) {
      toast(said.spent);
      announce(said.spent);
    } else toast(said.connection, { undo: said.retry, action: again });
  }

  function attach(host, signal) {
    const chosen = (adapter) => {
      set(ADAPTER, adapter || undefined);
      look();
    };
    const talks = (language) => {
      set(LANGUAGE, language || undefined);
      look();
    };
    const panel = createCallPanel({ start, end: hangUp, mute: calls.setMuted, chosen, talks });
    host.append(panel.node);
    panels.add(panel);
    signal.addEventListener("abort", () => {
      panels.delete(panel);
      told(calls.view());
    });
    told(calls.view());
    look();
  }

  return { attach, start };
}
