// The websocket: opens it, opens it again when it breaks, asks for what was missed, and sends what
// waits in the outbox. Everything that arrives goes to `dispatch`; what the page knows stays in the
// state. No DOM here.

import { readJson } from "./json.js";
import { words } from "./words.js";

/** How many recorded frames the first look at the main conversation asks for. */
export const HISTORY_FRAMES = 400;

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** A server that says nothing for this long after opening, or after a message, is taken for gone. */
const SILENCE_MS = 15_000;
/** After this many attempts in a row the page says "offline" and not "reconnecting". */
const OFFLINE_AFTER = 3;
const RESTARTING = 1012;
const TOO_BIG = 1009;
const NOT_LET_IN = 1008;
/** The end of the way in may have been asked for here, as with a first password; its answer, with a new way in, comes in first. */
const COME_IN_MS = 1000;

/** The pause before attempt number `failures` (from 1), in milliseconds; `random` is in [0, 1). */
export function pauseFor(failures, random) {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 1.7 ** (failures - 1));
  return Math.round(pause * (0.5 + random / 2));
}

/** The one connection of a tab. */
export class Connection {
  /**
   * `dispatch(action)` and `getState()` reach the store, and `newest(conversation, limit)` gives the page of its newest frames; the rest stands
   * in for the browser in tests.
   */
  constructor({
    url,
    dispatch,
    getState,
    newest,
    Socket = globalThis.WebSocket,
    random = Math.random,
    clock = globalThis,
    now = Date.now,
    comeIn = () => setTimeout(() => globalThis.location.reload(), COME_IN_MS),
  }) {
    Object.assign(this, { url, dispatch, getState, newest, Socket, random, clock, now, comeIn });
    this.failures = 0;
    /** The `seq` to resume after: the last one this tab got in order. `null` until the first `hello`. */
    this.cursor = null;
    /** The same of each conversation beside the main one that this tab follows. */
    this.cursors = new Map();
    this.timers = { retry: undefined, silence: undefined };
    /** Frames of the main conversation that came while its first page is under way, which goes before them. */
    this.held = undefined;
    /** That page as it was asked for before the greeting, and of which conversation: `{ conversation, page }`. */
    this.asked = undefined;
  }

  /**
   * Begins with the newest frames of what was the main conversation at the last load: they are read while the line opens, which then brings what
   * is newer, as after a break. The greeting may name another conversation; then the state starts over.
   */
  async begin(conversation) {
    const page = this.newest(conversation, HISTORY_FRAMES).catch(() => undefined);
    this.asked = { conversation, page };
    const { frames = [], before, from } = (await page) ?? {};
    if (frames.length === 0 || this.getState().hello) return;
    this.asked = undefined;
    this.cursor = frames.at(-1).seq;
    this.dispatch({ type: "@frames", frames, early: conversation });
    this.dispatch({ type: "@history", after: (before ?? 1) - 1, from });
  }

  /** Opens the socket now. */
  open() {
    this.clock.clearTimeout(this.timers.retry);
    const socket = new this.Socket(this.url);
    this.socket = socket;
    this.greeted = false;
    this.expectAnswer();
    socket.onmessage = (event) => socket === this.socket && this.received(event.data);
    socket.onclose = (event) => socket === this.socket && this.closed(event.code);
  }

  /** Tries again at once, when nothing is open; for the moment the network or the person comes back. */
  retryNow() {
    if (!this.socket) this.open();
  }

  /** Sends a message that stands in the outbox, if the line is up; otherwise it goes out after the next `hello`. */
  sendMessage({ id, content, steer, images, call, conversation }) {
    const frame = { type: "message", id, content, ...this.named(conversation) };
    if (steer) frame.steer = true;
    if (call !== undefined) frame.call = call;
    if (images?.length > 0) frame.images = images.map(({ media_type, data }) => ({ media_type, data }));
    if (this.send(frame)) this.expectAnswer();
  }

  /** Ends what runs and what waits in a conversation, as a rule the main one. */
  sendStop(conversation) {
    return this.send({ type: "stop", ...this.named(conversation) });
  }

  /** From now on the frames of this conversation come too, those after `seq` number `after` at once. */
  follow(conversation, after) {
    this.cursors.set(conversation, after);
    this.send({ type: "resume", after, conversation });
  }

  /** The field that names a conversation, where it is not the main one. */
  named(conversation) {
    return conversation === undefined || conversation === this.getState().hello?.conversation ? {} : { conversation };
  }

  /** Decides an approval: `decision` is `approve`, `always` or `deny`. False when the line is down; then nothing was decided. */
  sendDecision(approval, decision, reason) {
    const frame =
      decision === "deny"
        ? { type: "deny", approval, reason }
        : { type: "approve", approval, always: decision === "always" };
    const sent = this.send(frame);
    if (sent) this.expectAnswer();
    return sent;
  }

  send(frame) {
    if (!this.greeted) return false;
    this.socket.send(JSON.stringify(frame));
    return true;
  }

  resume(after) {
    this.cursor = after;
    this.dispatch({ type: "@history", after });
    this.send({ type: "resume", after });
  }

  received(data) {
    let frame;
    try {
      frame = readJson(data);
    } catch {
      return; // Not a frame of this protocol; nothing can be said about it.
    }
    this.clock.clearTimeout(this.timers.silence);
    if (frame.type === "hello") {
      this.welcomed(frame);
      return;
    }
    // Not the highest but the latest: should a frame slip in before the missed ones, they are asked
    // for again next time.
    const isMain = frame.conversation === this.getState().hello?.conversation;
    if (typeof frame.seq === "number") {
      if (isMain) this.cursor = frame.seq;
      else if (this.cursors.has(frame.conversation)) this.cursors.set(frame.conversation, frame.seq);
    }
    if (this.held && isMain) this.held.push(frame);
    else this.dispatch(frame);
    if (this.getState().outbox.some((entry) => entry.status === "sending")) this.expectAnswer();
  }

  welcomed(hello) {
    const { hello: before, historyAfter } = this.getState();
    this.dispatch(hello);
    const startsOver = this.getState().historyAfter === null;
    // The server has another past: what was followed there is not there any more.
    if (before && historyAfter !== null && startsOver) this.cursors.clear();
    this.failures = 0;
    this.greeted = true;
    this.dispatch({ type: "@connection", status: "connected", failures: 0, retryAt: null });
    if (startsOver) this.look(hello);
    else this.resume(this.cursor);
    for (const [conversation, after] of this.cursors) this.send({ type: "resume", after, conversation });
    for (const entry of this.getState().outbox) if (entry.status === "sending") this.sendMessage(entry);
  }

  /**
   * The first look: the newest frames as one page, which costs a fraction of as many messages here, and what comes from now on. If the page
   * cannot be had, the frames come here.
   */
  async look({ conversation, last_seq: last }) {
    const all = Math.max(0, last - HISTORY_FRAMES);
    if (last === 0 || !this.newest) {
      this.resume(all);
      return;
    }
    this.cursor = last;
    this.send({ type: "resume", after: last });
    const held = (this.held = []);
    const ask = () => this.newest(conversation, HISTORY_FRAMES).catch(() => undefined);
    // The first answer may have been asked for before the greeting: then it may end before it.
    const early = this.asked?.conversation === conversation ? this.asked.page : undefined;
    this.asked = undefined;
    const first = await (early ?? ask());
    const page = first && !(first.frames.at(-1)?.seq >= last) ? await ask() : first;
    // The line broke meanwhile: the next greeting asks anew.
    if (this.held !== held) return;
    this.held = undefined;
    if (page) {
      this.dispatch({ type: "@frames", conversation, frames: page.frames });
      this.dispatch({ type: "@history", conversation, after: (page.before ?? 1) - 1, from: page.from });
    } else this.resume(all);
    held.forEach(this.dispatch);
  }

  closed(code) {
    this.clock.clearTimeout(this.timers.silence);
    this.socket = undefined;
    this.held = undefined;
    const wasUp = this.greeted;
    this.greeted = false;
    // The server knows where one signs in; what waits here is kept, and goes out afterwards.
    if (code === NOT_LET_IN) return this.comeIn();
    if (code === TOO_BIG) this.refuseLongest();
    this.failures += 1;
    // A restarting server said so and is back in a moment: the first attempt comes at once.
    const pause = code === RESTARTING && wasUp ? 0 : pauseFor(this.failures, this.random());
    const status = this.failures > OFFLINE_AFTER ? "offline" : "reconnecting";
    this.dispatch({ type: "@connection", status, failures: this.failures, retryAt: this.now() + pause });
    this.timers.retry = this.clock.setTimeout(() => this.open(), pause);
  }

  /** A message the server closed the socket over would close the next one too. */
  refuseLongest() {
    const waiting = this.getState().outbox.filter((entry) => entry.status === "sending");
    if (waiting.length === 0) return;
    const size = ({ content, images = [] }) => images.reduce((sum, { data }) => sum + data.length, content.length);
    const { id } = waiting.reduce((a, b) => (size(b) > size(a) ? b : a));
    this.dispatch({ type: "error", id, content: words.failed.tooLong });
  }

  expectAnswer() {
    this.clock.clearTimeout(this.timers.silence);
    const { socket } = this;
    const unsent = socket.bufferedAmount;
    this.timers.silence = this.clock.setTimeout(() => {
      if (socket !== this.socket) return;
      // Images on a slow line: as long as they go out, somebody takes them.
      if (socket.bufferedAmount < unsent) {
        this.expectAnswer();
        return;
      }
      // A dead line can take minutes to close properly, so its end is not waited for.
      socket.close();
      this.closed(1006);
    }, SILENCE_MS);
  }
}
