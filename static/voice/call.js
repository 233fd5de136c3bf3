// A call with Law, above all places: the call at the server, the voice, and the conversation in
// which everything is said. No DOM.

import { isBusy } from "../core/state.js";
import { waiting } from "../core/state-law.js";
import { createHearing } from "./hearing.js";
import { nextState } from "./machine.js";
import { createReader } from "./reader.js";
import { sentencesOf } from "./speakable.js";

const DENIED = new Set(["not-allowed", "service-not-allowed"]);
const NOTHING = { interim: "", speaking: "", aloud: true, isHeard: false, doing: undefined, level: undefined, isMuted: false, unheard: [] };

/**
 * The calls of this tab. `api` has `begin(adapter, takeOver)`, `beat(call)`, `end(call, failed)` and `line()`; `send(message)` says something in
 * the conversation; `makeService({ adapter, where, lang })` makes a voice. `lang()` is the tag of the language that is talked. `told(view)` is
 * called on every change.
 */
export function createCalls({ api, store, follow, send, makeService, said, lang, told, clock = globalThis }) {
  let view = { state: "idle", ...NOTHING };
  let live;

  function show(changes) {
    view = { ...view, ...changes };
    told(view);
  }
  function move(input, changes = {}) {
    const state = nextState(view.state, input);
    if (state) show({ state, ...changes });
    return state !== undefined;
  }
  const stateOf = () => store.getState().states.get(live.conversation);
  const isLive = (own) => live === own;
  const hearing = createHearing({ show, viewOf: () => view, stateOf, read, mark, say, sayAll, isLive, clock });

  /** Calls. Throws the refusal of the server; `status` 403, 409 or 429 say which. */
  async function begin({ adapter, where, host, takeOver = false, isAgain = false }) {
    if (!move("call", { ...NOTHING, where, host, problem: undefined, ended: undefined, error: undefined, startedAt: undefined })) return;
    const own = { adapter, where, host, isAgain, lang: lang() };
    live = own;
    try {
      // Words that the page does not speak are the server's.
      const call = await api.begin(adapter, takeOver, ...(adapter === "vapi" ? [own.lang] : []));
      if (live !== own) {
        api.end(call.call, false).catch(() => undefined);
        return;
      }
      Object.assign(own, call, { gone: new AbortController() });
      await follow(own.conversation);
      if (live !== own) return;
      listen(own);
    } catch (error) {
      if (live === own) {
        live = undefined;
        // A refusal of the server is told by who called.
        move("fail");
        move("end", error.status === undefined ? { error: "connection" } : { ended: error.message });
      }
      throw error;
    }
  }

  function listen(own) {
    const state = stateOf();
    const voice = makeService(own);
    Object.assign(own, { voice, spoken: [] });
    // A voice that carries the words itself speaks the answers, too.
    const say = voice.carries ? () => undefined : voice.say;
    own.reader = createReader({ lang: own.lang, said, say, drop: () => voice.interrupt(), does: voice.functionCalled, from: state?.lastSeq ?? 0 });
    const mine = (work) => (...all) => live === own && work(own, ...all);
    voice.onTranscript(mine(hearing.heard));
    voice.onResponse(mine(hearing.responded));
    voice.onFunctionCall(mine((_, name) => show({ doing: name })));
    voice.onSound(mine((_, isHeard) => show({ isHeard })));
    voice.onLevel?.(mine((_, level) => show({ level })));
    voice.onInterrupt?.(mine(hearing.interrupt));
    voice.onOpen?.(mine(hearing.opened));
    voice.onError(mine(failed));
    voice.onStateChange(mine((_, to) => to === "active" && !own.beating && beatOn(own)));
    store.subscribe(() => live === own && read(own), own.gone.signal);
    voice.startSession();
  }

  function read(own) {
    const state = stateOf();
    if (!state || view.state !== "active") return;
    own.reader.told(state);
    mark(own);
    let isRefused = false;
    // Words that the server did not take are told, and wait nowhere.
    for (const entry of state.outbox) {
      if (entry.status !== "refused" || entry.call !== own.call || own.refused?.has(entry.id)) continue;
      (own.refused ??= new Set()).add(entry.id);
      sayAll(own, entry.error);
      isRefused = true;
    }
    if (!isRefused) return;
    // No model will see them, so the turn that they were said into goes on.
    own.reader.forget();
    own.reader.told(state);
  }

  /** Marks in the conversation, for as long as the page lives, which answers were not heard to their end. */
  function mark(own) {
    for (const { place, text } of own.reader.marks()) store.dispatch({ type: "@unheard", conversation: own.conversation, place, text });
  }

  /** Says a text that was written for the eye. Behind the last words a voice that carries them hangs up. */
  function sayAll(own, text, isLast = false) {
    const sentences = sentencesOf(text, own.lang, said);
    for (const [at, sentence] of sentences.entries()) own.voice.say(sentence, isLast && at === sentences.length - 1);
  }

  /** The first beat says that both can talk. */
  async function beatOn(own) {
    clearTimers(own);
    own.beating = true;
    try {
      const call = await api.beat(own.call);
      if (live !== own) return;
      own.misses = 0;
      const first = view.state === "connecting";
      move("beat", { secondsLeft: call.seconds_left, ...(first && { startedAt: Date.now() }) });
      if (first) read(own);
      // The answer that began the call may say `warned` already, and nobody has been told.
      if (call.warned && !own.isTold) {
        own.isTold = true;
        own.voice.say(said.secondsLeft(call.seconds_left));
      }
      const next = Math.min(call.beat_seconds, (call.seconds_left ?? Infinity) + 0.5);
      own.beat = clock.setTimeout(() => beatOn(own), next * 1000);
    } catch (error) {
      if (live === own) await missed(own, error);
    }
  }

  async function missed(own, error) {
    own.misses = (own.misses ?? 0) + 1;
    if (error.status === undefined || error.status >= 500) {
      // The server may be back in a moment; after so long it has ended the call itself.
      own.beat = clock.setTimeout(() => beatOn(own), 3000);
      if (own.misses < 20) return;
    }
    const line = await api.line().catch(() => undefined);
    if (live !== own) return;
    const isSpent = line?.seconds_left === 0;
    if (!isSpent && line && !line.call && !own.isAgain && error.status === 410) return again(own);
    if (isSpent) sayAll(own, said.spent, true);
    over(own, "end", isSpent ? said.spent : line?.call ? said.takenOver : said.ended, isSpent);
  }

  /** The session was lost: once it is begun anew by itself. `takeOver`: to the server it may still go on. */
  function again(own, takeOver = false) {
    const { adapter, where, host } = own;
    over(own, "end", said.reconnecting);
    return begin({ adapter, where, host, takeOver, isAgain: true }).catch(() => {
      show({ ended: said.ended });
      // Nothing took it over, so at the server it still goes on.
      if (takeOver) api.end(own.call, false).catch(() => undefined);
    });
  }

  function say(text) {
    const state = stateOf();
    const isAsked = state && waiting(state).length > 0;
    send({ content: text, conversation: live.conversation, call: live.call, ...(state && isBusy(state) && !isAsked && { steer: true }) });
  }

  function failed(own, code, message) {
    if (code === "server") {
      // The call goes on: the next sentence may be heard, or said, again.
      show({ error: "server", problem: message });
      return;
    }
    if (code === "lost" && !own.isAgain) {
      again(own, true);
      return;
    }
    if (code === "ended" || code === "lost") {
      // The other end hung up, or its line broke twice. The server knows, or hears of it now.
      over(own, "end", said.ended);
      api.end(own.call, false).catch(() => undefined);
      return;
    }
    if (code === "network") {
      own.voice.say(said.network);
      show({ error: "network" });
      return;
    }
    over(own, "fail", undefined, false, true);
    show({ error: DENIED.has(code) ? "denied" : code === "audio-capture" ? "no-microphone" : "connection" });
  }

  function over(own, input, ended, isSpokenOn = false, isFailure = false) {
    clearTimers(own);
    own.gone?.abort();
    live = undefined;
    if (isSpokenOn) own.voice?.deafen();
    else own.voice?.endSession();
    move(input, { ended, ...NOTHING });
    if (isFailure && own.call) api.end(own.call, true).catch(() => undefined);
  }

  const clearTimers = (own) => {
    clock.clearTimeout(own.beat);
    hearing.clear(own);
  };

  return {
    begin,
    view: () => view,
    /** Hangs up. */
    async end() {
      const own = live;
      if (!own) {
        move("end", { error: undefined, ended: undefined });
        return;
      }
      over(own, "end", said.ended);
      if (own.call) await api.end(own.call, false).catch(() => undefined);
    },
    setMuted(isMuted) {
      live?.voice?.setMuted(isMuted);
      if (live?.isOpen) hearing.closed(live);
      show({ isMuted, interim: "" });
    },
    /** Another tab may have taken the call over. */
    look: () => live?.beating && beatOn(live),
    /** The call that goes on, for the end of the page. */
    current: () => live?.call,
  };
}
