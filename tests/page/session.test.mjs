// The session: several conversations over one line, a reload, and a line that breaks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createSession } = await load("core/session.js");

function setUp({ storage = new Map(), frames = [], first = async () => ({ frames: [], before: null }) } = {}) {
  const sockets = [];
  const timers = new Map();
  const asked = [];
  class Socket {
    constructor() {
      this.sent = [];
      sockets.push(this);
    }
    send(text) {
      this.sent.push(JSON.parse(text));
    }
    close() {}
    says(frame) {
      this.onmessage({ data: JSON.stringify(frame) });
    }
  }
  const session = createSession({
    url: "ws://x/chat",
    storage: {
      getItem: (key) => storage.get(key) ?? null,
      setItem: (key, value) => storage.set(key, value),
      removeItem: (key) => storage.delete(key),
    },
    schedule: (tell) => tell(),
    fetch: async (path) => {
      asked.push(path);
      if (path.includes("/1/frames")) return { ok: true, status: 200, text: async () => JSON.stringify(await first()) };
      const missing = path.includes("/99/");
      const body = missing ? { error: "There is no conversation 99." } : path.includes("/frames") ? { frames, before: null } : {};
      return { ok: !missing, status: missing ? 404 : 200, text: async () => JSON.stringify(body) };
    },
    Socket,
    clock: { setTimeout: (callback) => (timers.set(timers.size, callback), timers.size - 1), clearTimeout: (id) => timers.delete(id) },
    random: () => 0,
    now: () => 0,
  });
  const hello = (last_seq = 5) => sockets.at(-1).says({ type: "hello", conversation: 1, conversations: {}, last_seq, model: {}, version: "1" });
  return { session, sockets, storage, asked, hello, socket: () => sockets.at(-1), state: () => session.store.getState() };
}

const said = (conversation, seq, id) => ({ type: "turn", turn: seq, state: "queued", origin: "message", content: `m${seq}`, id, conversation, seq });

test("another_conversation_is_loaded_once_followed_and_resumed_where_it_stood", async () => {
  const { session, sockets, asked, hello, socket, state } = setUp({ frames: [said(7, 1), said(7, 3)] });
  session.start();
  hello();
  await session.open(7);
  await session.open(1);
  await session.open(7);
  assert.equal(asked.filter((path) => path.includes("/7/frames")).length, 1);
  assert.deepEqual(socket().sent.at(-1), { type: "resume", after: 3, conversation: 7 });
  assert.equal(state().states.get(7).items.size, 2);
  socket().says(said(7, 4));
  socket().onclose({ code: 1006 });
  session.retry();
  assert.equal(sockets.length, 2, "the line is opened again");
  hello();
  const resumed = socket().sent.filter(({ type, conversation }) => type === "resume" && conversation === 7);
  assert.deepEqual(resumed, [{ type: "resume", after: 4, conversation: 7 }]);
});

test("a_message_goes_to_the_conversation_that_is_shown_and_survives_a_reload_there", async () => {
  const first = setUp();
  first.session.start();
  first.session.send({ content: "to the main one" });
  first.hello();
  await first.session.open(7);
  first.session.send({ content: "to seven" });
  const messages = (socket) => socket.sent.filter(({ type }) => type === "message").map(({ content, conversation }) => [content, conversation]);
  assert.deepEqual(messages(first.socket()), [["to the main one", undefined], ["to seven", 7]]);

  const second = setUp({ storage: first.storage });
  second.session.start();
  second.hello();
  assert.equal(second.state().shown, 1);
  assert.deepEqual(messages(second.socket()).sort(), [["to seven", 7], ["to the main one", undefined]]);
  const { id } = second.state().states.get(7).outbox[0];
  second.socket().says(said(7, 2, id));
  assert.equal(second.state().states.get(7).outbox.length, 0);
});

test("what_is_not_there_is_said_and_stop_ends_only_what_is_shown", async () => {
  const { session, hello, socket } = setUp();
  session.start();
  hello();
  await assert.rejects(session.open(99), /There is no conversation 99/);
  await session.open(7);
  session.stop();
  assert.deepEqual(socket().sent.at(-1), { type: "stop", conversation: 7 });
  await session.open(1);
  session.stop();
  assert.deepEqual(socket().sent.at(-1), { type: "stop" });
});

test("a_message_that_is_taken_back_is_not_sent", () => {
  const { session, state } = setUp();
  session.start();
  session.send({ content: "no" });
  const [{ id }] = state().states.get(null).outbox;
  assert.equal(session.take(id).content, "no");
  assert.equal(state().states.get(null).outbox.length, 0);
  assert.equal(session.take(id), undefined);
});

/** A promise, and what settles it. */
function promised() {
  let resolve;
  return { promise: new Promise((done) => (resolve = done)), resolve };
}

const resumed = ({ sent }) => sent.filter(({ type }) => type === "resume");
const texts = ({ items }) => [...items.values()].map(({ content }) => content);

test("the_first_look_is_one_page_and_what_comes_meanwhile_goes_behind_it", async () => {
  const page = promised();
  const { session, asked, hello, socket, state } = setUp({ first: () => page.promise });
  session.start();
  hello();
  assert.deepEqual(resumed(socket()), [{ type: "resume", after: 5 }]);
  assert.deepEqual(asked.filter((path) => path.includes("/frames")), ["/api/conversations/1/frames?limit=400"]);
  socket().says({ type: "delta", conversation: 1, turn: 4, step: 1, attempt: 1, content: "the end" });
  socket().says(said(1, 6));
  assert.equal(state().states.get(1).historyAfter, null, "nothing is shown that lacks what is before it");
  page.resolve({ frames: [said(1, 4), { type: "turn", turn: 4, state: "running", conversation: 1, seq: 5 }], before: 4 });
  await new Promise(setImmediate);
  const own = state().states.get(1);
  assert.deepEqual(texts(own), ["m4", "m6"]);
  assert.equal(own.historyAfter, 3);
  assert.equal(own.streams.get("4:1").text, "… the end", "text that is written may lack its beginning");
  socket().says(said(1, 7));
  assert.deepEqual(texts(state().states.get(1)), ["m4", "m6", "m7"]);
});

test("a_page_that_was_asked_for_before_the_greeting_and_ends_before_it_is_asked_for_again", async () => {
  const pages = [[said(1, 3)], [said(1, 3), said(1, 5)]];
  const { session, asked, hello, state } = setUp({ first: async () => ({ frames: pages.shift(), before: null }) });
  session.start();
  hello();
  await new Promise(setImmediate);
  assert.deepEqual(texts(state().states.get(1)), ["m3", "m5"]);
  assert.equal(asked.filter((path) => path.includes("/frames")).length, 2);
});

test("a_page_that_cannot_be_had_comes_by_the_line", async () => {
  const { session, hello, socket, state } = setUp({ first: () => Promise.reject(new Error("no")) });
  session.start();
  hello(500);
  socket().says(said(1, 501));
  await new Promise(setImmediate);
  assert.deepEqual(resumed(socket()), [{ type: "resume", after: 500 }, { type: "resume", after: 100 }]);
  for (const seq of [101, 102, 501]) socket().says(said(1, seq));
  const own = state().states.get(1);
  assert.deepEqual([...own.items.values()].map(({ at }) => at).sort((a, b) => a - b), [101, 102, 501]);
  assert.equal(own.historyAfter, 100);
});

test("a_line_that_breaks_during_the_first_look_asks_anew_and_forgets_nothing_that_is_followed", async () => {
  const pages = [promised(), promised()];
  let asks = 0;
  const { session, hello, socket, state } = setUp({ frames: [said(7, 3)], first: () => pages[asks++].promise });
  session.start();
  hello();
  await session.open(7);
  socket().says(said(1, 6));
  socket().onclose({ code: 1006 });
  session.retry();
  hello(6);
  assert.deepEqual(resumed(socket()), [{ type: "resume", after: 6 }, { type: "resume", after: 3, conversation: 7 }]);
  pages[0].resolve({ frames: [said(1, 1)], before: null });
  await new Promise(setImmediate);
  assert.equal(state().states.get(1).historyAfter, null, "it may lack what came during the break");
  pages[1].resolve({ frames: [said(1, 1), said(1, 6)], before: null });
  await new Promise(setImmediate);
  assert.deepEqual(texts(state().states.get(1)), ["m1", "m6"]);
});

/** A session that begins with a page before the greeting: what it holds when the page is there. */
async function begun(frames, conversation = 1) {
  const page = promised();
  const all = setUp({ first: () => page.promise, frames });
  const whole = all.session.begin(conversation);
  all.session.start();
  page.resolve({ frames, before: frames[0]?.seq ?? null });
  return { ...all, whole, pages: () => all.asked.filter((path) => path.includes("/frames")).length };
}

test("what_was_said_last_is_shown_before_the_greeting_and_the_line_brings_what_is_newer", async () => {
  const { whole, hello, socket, state, pages } = await begun([said(1, 3), said(1, 4), { type: "turn", turn: 4, state: "running", conversation: 1, seq: 5 }]);
  await whole;
  assert.deepEqual(texts(state().states.get(null)), ["m3", "m4"], "no number is known yet");
  hello(7);
  assert.deepEqual(resumed(socket()), [{ type: "resume", after: 5 }]);
  for (const seq of [6, 7]) socket().says(said(1, seq));
  socket().says({ type: "delta", conversation: 1, turn: 4, step: 1, attempt: 1, content: "the end" });
  const own = state().states.get(1);
  assert.deepEqual([[...state().states.keys()], texts(own), own.historyAfter], [[1], ["m3", "m4", "m6", "m7"], 2]);
  assert.equal(own.streams.get("4:1").text, "… the end", "text that is written may lack its beginning");
  assert.equal(pages(), 1, "nothing is asked for twice");
});

test("a_page_that_comes_after_the_greeting_is_the_first_look", async () => {
  const { whole, hello, socket, state, pages } = await begun([said(1, 3), said(1, 5)]);
  hello();
  socket().says(said(1, 6));
  await whole;
  await new Promise(setImmediate);
  const own = state().states.get(1);
  assert.deepEqual([texts(own), own.historyAfter, pages()], [["m3", "m5", "m6"], 2, 1]);
  assert.deepEqual(resumed(socket()), [{ type: "resume", after: 5 }]);
});

test("of_a_conversation_that_is_not_the_main_one_any_more_nothing_stays", async () => {
  const { session, whole, hello, state } = await begun([said(7, 2), said(7, 3)], 7);
  session.send({ content: "kept" });
  await whole;
  assert.deepEqual(texts(state().states.get(null)), ["m2", "m3"]);
  hello();
  await new Promise(setImmediate);
  assert.deepEqual([[...state().states.keys()], texts(state().states.get(1))], [[1], []]);
  assert.deepEqual(state().states.get(1).outbox.map(({ content }) => content), ["kept"]);
});

test("a_server_with_less_than_was_shown_before_the_greeting_is_looked_at_anew", async () => {
  const { whole, hello, state, pages } = await begun([said(1, 3), said(1, 9)]);
  await whole;
  hello(5);
  assert.equal(state().states.get(1).items.size, 0);
  await new Promise(setImmediate);
  assert.deepEqual([texts(state().states.get(1)), pages()], [["m3", "m9"], 2]);
});

test("without_a_page_before_the_greeting_the_frames_come_by_the_line", async () => {
  const { whole, hello, socket, state } = await begun([]);
  await whole;
  assert.equal(state().states.get(null).historyAfter, null);
  hello();
  await new Promise(setImmediate);
  assert.equal(state().states.get(1).hello.conversation, 1);
  assert.deepEqual(resumed(socket())[0], { type: "resume", after: 5 });
});
