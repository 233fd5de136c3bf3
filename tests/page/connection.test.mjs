// The connection and the outbox, with a socket and a clock of the test's own.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { Connection, pauseFor } = await load("core/connection.js");
const { createStore } = await load("core/store.js");
const { loadOutbox, MAX_MESSAGE_BYTES, newId, refusal, saveOutbox } = await load("core/outbox.js");

function setUp() {
  const sockets = [];
  const timers = new Map();
  const asked = [];
  let next = 0;
  class Socket {
    constructor(url) {
      this.url = url;
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
    ends(code = 1006) {
      this.onclose({ code });
    }
  }
  const clock = {
    setTimeout: (callback, pause) => (timers.set(++next, { callback, pause }), next),
    clearTimeout: (id) => timers.delete(id),
  };
  const store = createStore({ schedule: (callback) => callback() });
  const connection = new Connection({
    url: "ws://x/chat",
    dispatch: store.dispatch,
    getState: store.getState,
    Socket,
    clock,
    random: () => 0,
    now: () => 0,
    comeIn: () => asked.push("to come in"),
  });
  /** Lets the only pending timer run and says how long it waited. */
  const elapse = () => {
    assert.equal(timers.size, 1, "one timer");
    const [[id, { callback, pause }]] = timers;
    timers.delete(id);
    callback();
    return pause;
  };
  const send = (id, content = id) => {
    const entry = { id, content, status: "sending" };
    store.dispatch({ type: "@outbox", entries: [...store.getState().outbox, entry] });
    connection.sendMessage(entry);
  };
  connection.open();
  return { asked, connection, store, sockets, timers, elapse, send, socket: () => sockets.at(-1) };
}

const hello = (last_seq = 0) => ({
  type: "hello",
  version: "0",
  conversation: 1,
  last_seq,
  model: { kind: "tour", provider: "", name: "" },
  safe_mode: false,
});
const queued = (seq, id) => ({
  type: "turn",
  turn: seq,
  state: "queued",
  origin: "message",
  content: id,
  id,
  conversation: 1,
  seq,
});

test("the_first_hello_is_answered_with_a_request_for_the_last_400_frames", () => {
  for (const [last, expected] of [
    [0, 0],
    [399, 0],
    [1000, 600],
  ]) {
    const { socket } = setUp();
    socket().says(hello(last));
    assert.deepEqual(socket().sent, [{ type: "resume", after: expected }]);
  }
});

test("after_a_break_it_resumes_after_the_last_frame_it_got", () => {
  const { socket, elapse, store } = setUp();
  socket().says(hello(1));
  socket().says(queued(1, "a"));
  socket().says(queued(4, "b"));
  socket().ends();
  assert.equal(store.getState().connection.status, "reconnecting");
  elapse();
  socket().says(hello(9));
  assert.deepEqual(socket().sent, [{ type: "resume", after: 4 }]);
  assert.equal(store.getState().connection.status, "connected");
});

test("a_frame_that_slips_in_before_the_missed_ones_does_not_hide_them", () => {
  const { socket, elapse } = setUp();
  socket().says(hello(5));
  socket().says(queued(6, "early"));
  socket().says(queued(1, "replayed"));
  socket().ends();
  elapse();
  socket().says(hello(6));
  assert.deepEqual(socket().sent, [{ type: "resume", after: 1 }]);
});

test("messages_are_sent_again_under_the_same_id_until_they_are_acknowledged", () => {
  const { socket, elapse, send, store, timers } = setUp();
  send("a");
  assert.deepEqual(socket().sent, [], "nothing before hello");
  socket().says(hello());
  assert.deepEqual(socket().sent.slice(1), [{ type: "message", id: "a", content: "a" }]);
  socket().ends();
  elapse();
  socket().says(hello());
  assert.deepEqual(socket().sent.slice(1), [{ type: "message", id: "a", content: "a" }]);
  socket().says(queued(1, "a"));
  assert.deepEqual(store.getState().outbox, []);
  assert.equal(timers.size, 0, "nothing is waited for any more");
  socket().ends();
  elapse();
  socket().says(hello(1));
  assert.equal(socket().sent.length, 1, "only the resume");
});

test("a_decision_goes_out_only_over_an_open_line_and_is_not_kept_for_later", () => {
  const { connection, socket, timers } = setUp();
  assert.equal(connection.sendDecision(5, "approve"), false);
  socket().says(hello());
  assert.equal(connection.sendDecision(5, "approve"), true);
  assert.equal(connection.sendDecision(6, "always"), true);
  assert.equal(connection.sendDecision(7, "deny", "too wide"), true);
  assert.equal(connection.sendDecision(8, "deny"), true);
  assert.deepEqual(
    socket().sent.filter(({ type }) => type === "approve" || type === "deny"),
    [
      { type: "approve", approval: 5, always: false },
      { type: "approve", approval: 6, always: true },
      { type: "deny", approval: 7, reason: "too wide" },
      { type: "deny", approval: 8 },
    ],
  );
  assert.equal(timers.size, 1, "a line that is silent now is given up");
  socket().ends();
  connection.open();
  socket().says(hello());
  assert.ok(!socket().sent.some(({ type }) => type === "approve" || type === "deny"));
});

test("pauses_grow_to_a_limit_and_are_jittered", () => {
  const pauses = Array.from({ length: 20 }, (_, index) => pauseFor(index + 1, 0.999999));
  assert.ok(pauses.every((pause, index) => index === 0 || pause >= pauses[index - 1]));
  assert.equal(pauses[0], 500);
  assert.equal(pauses.at(-1), 15_000);
  assert.equal(pauseFor(20, 0), 7_500);
});

test("a_restarting_server_is_tried_at_once_and_then_with_pauses", () => {
  const { socket, elapse, store } = setUp();
  socket().says(hello());
  socket().ends(1012);
  assert.equal(elapse(), 0);
  socket().ends(1012);
  assert.ok(elapse() > 0, "never greeted: a pause");
  socket().ends();
  elapse();
  socket().ends();
  assert.equal(store.getState().connection.status, "offline");
});

test("a_line_that_is_silent_after_a_message_is_given_up", () => {
  const { socket, elapse, send, sockets, store } = setUp();
  socket().says(hello());
  send("a");
  assert.equal(elapse(), 15_000);
  assert.equal(store.getState().connection.status, "reconnecting");
  elapse();
  assert.equal(sockets.length, 2);
  sockets[0].ends();
  assert.equal(sockets.length, 2, "the end of the old socket means nothing any more");
});

test("a_message_the_server_closes_the_socket_over_is_not_sent_for_ever", () => {
  const { socket, elapse, send, store } = setUp();
  socket().says(hello());
  send("small");
  send("big", "x".repeat(50));
  socket().ends(1009);
  elapse();
  socket().says(hello());
  assert.deepEqual(
    socket()
      .sent.slice(1)
      .map((frame) => frame.id),
    ["small"],
  );
  assert.deepEqual(
    store.getState().outbox.map((entry) => entry.status),
    ["sending", "refused"],
  );
});

test("an_approval_comes_with_the_digits_that_its_call_has", () => {
  const { socket, store } = setUp();
  socket().says(hello());
  const args = '{"limit":{"maximum":9007199254740993}}';
  socket().onmessage({ data: `{"type":"approval","id":5,"state":"pending","call":1,"turn":1,"conversation":1,"seq":1,"tool":"x","arguments":${args},"what":[]}` });
  assert.equal(JSON.stringify(store.getState().items.get("approval:5").shown.args), args);
});

test("what_is_not_json_is_passed_over", () => {
  const { socket, store } = setUp();
  socket().says(hello());
  const before = store.getState();
  socket().onmessage({ data: "<html>" });
  assert.equal(store.getState(), before);
});

test("the_outbox_survives_a_reload_and_a_broken_storage_costs_no_more_than_that", () => {
  const kept = new Map();
  const storage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
  const entries = [{ id: "a", content: "x", status: "sending" }];
  saveOutbox(storage, entries);
  assert.deepEqual(loadOutbox(storage), entries);
  saveOutbox(storage, []);
  assert.equal(kept.size, 0);
  kept.set("level3.outbox", "{broken");
  assert.deepEqual(loadOutbox(storage), []);
  const full = {
    setItem: () => {
      throw new Error("quota");
    },
  };
  saveOutbox(full, entries);
});

test("ids_are_unique_with_and_without_a_secure_context", () => {
  const insecure = { getRandomValues: (bytes) => globalThis.crypto.getRandomValues(bytes) };
  assert.match(newId(insecure), /^[0-9a-f]{32}$/);
  assert.equal(new Set(Array.from({ length: 100 }, () => newId(insecure))).size, 100);
  assert.match(newId({ randomUUID: () => "u" }), /^u$/);
});

test("what_cannot_be_sent_is_refused_with_a_reason_before_it_is_sent", () => {
  assert.equal(refusal("hi"), undefined);
  assert.equal(refusal("é".repeat(MAX_MESSAGE_BYTES / 2)), undefined);
  assert.match(refusal("é".repeat(MAX_MESSAGE_BYTES / 2 + 1)), /1089 KiB.*1088/);
  assert.match(refusal(" \n"), /nothing/);
  const server = readFileSync(new URL("../../src/wire/mod.rs", import.meta.url), "utf8");
  const page = readFileSync(new URL("../../static/core/outbox.js", import.meta.url), "utf8");
  const most = /MAX_MESSAGE_BYTES(?:: usize)? = ([^;]+);/;
  assert.equal(page.match(most)[1], server.match(most)[1], "the server takes as much as the page sends");
});

test("a_tab_that_is_not_let_in_any_more_asks_to_come_in_and_does_not_try_again", () => {
  const { asked, send, socket, timers } = setUp();
  send("kept");
  socket().ends(1008);
  assert.deepEqual(asked, ["to come in"]);
  assert.equal(timers.size, 0);
});
