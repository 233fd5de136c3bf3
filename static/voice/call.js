// A call with Law, above all places: the call at the server, the voice, and the conversation in which everything is said. No DOM.

import { isBusy } from "../core/state.js";
import { waiting } from "../core/state-law.js";
import { isEcho, isUnclear, wordsIn } from "./echo.js";
import { nextState } from "./machine.js";
import { createReader } from "./reader.js";

/** Two words are no cough: what is being spoken stops. */
const INTERRUPTING_WORDS = 2;
/** After an answer that nobody could tell the question is said once more. */
const REPEAT_MS = 3000;
const DENIED = new Set(["not-allowed", "service-not-allowed"]);
const NOTHING = { interim: "", speaking: "", aloud: true, isHeard: false, doing: undefined, level: undefined, isMuted: false, unheard: [] };

/**
 * The calls of this tab. `api` has `begin(adapter, takeOver)`, `beat(call)`, `end(call, failed)` and `line()`; `send(message)` says something in
 * the conversation; `makeService({ adapter, where })` makes a voice. `told(view)` is called on every change.
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

  /** Calls. Throws the refusal of the server; `status` 403, 409 or 429 say which. */
  async function begin({ adapter, where, host, takeOver = false, isAgain = false }) {
    if (!move("call", { ...NOTHING, where, host, problem: undefined, ended: undefined, error: undefined, startedAt: undefined })) return;
    const own = { adapter, where, host, isAgain };
    live = own;
    try {
      const call = await api.begin(adapter, takeOver);
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
    own.voice = voice;
    // A voice that carries the words itself speaks the answers, too.
    const say = voice.carries ? () => undefined : voice.say;
    own.reader = createReader({ lang, said, say, drop: () => voice.interrupt(), does: voice.functionCalled, from: state?.lastSeq ?? 0 });
    const mine = (work) => (...all) => live === own && work(own, ...all);
    voice.onTranscript(mine(heard));
    voice.onResponse(mine((_, text, aloud = true) => show({ speaking: text, aloud, doing: undefined })));
    voice.onFunctionCall(mine((_, name) => show({ doing: name })));
    voice.onSound(mine((_, isHeard) => show({ isHeard })));
    voice.onLevel?.(mine((_, level) => show({ level })));
    voice.onInterrupt?.(mine(interrupt));
    voice.onError(mine(failed));
    voice.onStateChange(mine((_, to) => to === "active" && !own.beating && beatOn(own)));
    store.subscribe(() => live === own && read(own), own.gone.signal);
    voice.startSession();
  }

  function read(own) {
    const state = stateOf();
    if (!state || view.state !== "active") return;
    own.reader.told(state);
    // Words that the server did not take are told, and wait nowhere.
    for (const entry of state.outbox) {
      if (entry.status !== "refused" || entry.call !== own.call || own.refused?.has(entry.id)) continue;
      (own.refused ??= new Set()).add(entry.id);
      own.voice.say(entry.error);
    }
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
      if (call.warned && !own.warned) {
        own.warned = true;
        own.voice.say(said.oneMinute);
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
    if (isSpent) own.voice.say(error.message, true);
    over(own, "end", isSpent || line?.call ? error.message : said.ended, isSpent);
  }

  /** The session was lost: once it is begun anew by itself. `takeOver`: to the server it may still go on. */
  function again(own, takeOver = false) {
    const { adapter, where, host } = own;
    over(own, "end", said.reconnecting);
    return begin({ adapter, where, host, takeOver, isAgain: true }).catch(() => show({ ended: said.ended }));
  }

  function heard(own, { text, isFinal, confidence, isOver }) {
    const { voice } = own;
    if (voice.carries) {
      show({ interim: isFinal ? "" : text });
      return;
    }
    if (view.isMuted || isOwn(voice, text, isFinal, isOver)) return;
    if (wordsIn(text).length >= INTERRUPTING_WORDS || isFinal) interrupt(own);
    if (!isFinal) {
      show({ interim: text });
      return;
    }
    show({ interim: "", ...(view.error === "server" && { error: undefined, problem: undefined }) });
    const asked = waiting(stateOf() ?? { items: new Map(), turns: new Map() }).find(({ shown }) => shown?.question);
    if (isUnclear(text, confidence)) {
      if (asked && own.repeated !== asked.id) own.repeat = clock.setTimeout(() => repeat(own, asked), REPEAT_MS);
      return;
    }
    clock.clearTimeout(own.repeat);
    say(text);
  }

  /** The page hears itself. One short word at the end of what is heard is a person's. */
  const isOwn = (voice, text, isFinal, isOver) => (isOver || voice.isSpeaking()) && isEcho(text, voice.lastSaid()) && (!isFinal || wordsIn(text).length > INTERRUPTING_WORDS);

  function repeat(own, { id, shown }) {
    const stillAsked = live === own && waiting(stateOf()).some((each) => each.id === id);
    if (!stillAsked || own.repeated === id) return;
    own.repeated = id;
    own.voice.say(shown.question);
  }

  /** The person speaks: nothing more is spoken of what was to be said. */
  function interrupt(own) {
    if (!own.voice.isSpeaking()) return;
    const unheard = own.voice.interrupt();
    own.reader.hush();
    if (unheard.length > 0) show({ speaking: "", unheard });
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
    clock.clearTimeout(own.repeat);
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
      show({ isMuted, interim: "" });
    },
    /** Another tab may have taken the call over. */
    look: () => live?.beating && beatOn(live),
    /** The call that goes on, for the end of the page. */
    current: () => live?.call,
  };
}
