// The session: several conversations over one line, a reload, and a line that breaks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createSession } = await load("core/session.js");

function setUp({ storage = new Map(), frames = [] } = {}) {
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
      const missing = path.includes("/99/");
      const body = missing ? { error: "There is no conversation 99." } : path.includes("/frames") ? { frames, before: null } : {};
      return { ok: !missing, status: missing ? 404 : 200, json: async () => body };
    },
    Socket,
    clock: { setTimeout: (callback) => (timers.set(timers.size, callback), timers.size - 1), clearTimeout: (id) => timers.delete(id) },
    random: () => 0,
    now: () => 0,
  });
  const hello = () => sockets.at(-1).says({ type: "hello", conversation: 1, conversations: {}, last_seq: 5, model: {}, version: "1" });
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
  assert.equal(asked.filter((path) => path.includes("/frames")).length, 1);
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
