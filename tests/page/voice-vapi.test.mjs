// A call by Vapi in the page: a room is joined, sound goes there and comes back, and words go past
// the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { canJoin, createVapiVoice } = await load("voice/vapi.js");
const { adaptersFor, chosenAdapter } = await load("voice/service.js");
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A room that the test plays. */
function joined({ token, join } = {}) {
  const told = [];
  const done = [];
  const listeners = {};
  const note = (name) => (...all) => (done.push([name, ...all]), Promise.resolve());
  const call = { on: (name, listener) => (listeners[name] = listener), join: (options) => (done.push(["join", options]), join?.() ?? Promise.resolve()), leave: note("leave"), destroy: note("destroy"), updateParticipant: note("subscribe"), sendAppMessage: note("send"), setLocalAudio: note("audio"), participants: () => ({ local: { local: true }, early: { session_id: "early" } }) };
  const made = [];
  const voice = createVapiVoice({
    room: { url: "https://vapi.daily.co/room", token },
    load: async () => ({ default: { createCallObject: (options) => (made.push(options), call) } }),
    tell: (...all) => told.push(all),
    play: (track) => (done.push(["play", track.id]), () => done.push(["silence", track.id])),
  });
  const hears = (data) => listeners["app-message"]({ data });
  return { voice, told, done, made, listeners, hears, names: () => done.map(([name]) => name) };
}

test("a_room_is_joined_without_a_camera_and_only_sound_is_subscribed_to", async () => {
  const { voice, told, done, made, listeners, hears } = joined({ token: "eyJ" });
  voice.startSession();
  await settle();
  assert.deepEqual(made, [{ audioSource: true, videoSource: false, dailyConfig: { avoidEval: true } }]);
  assert.deepEqual(done[0], ["join", { url: "https://vapi.daily.co/room", token: "eyJ", subscribeToTracksAutomatically: false }]);
  const sound = { setSubscribedTracks: { audio: true, video: false, screenVideo: false } };
  assert.deepEqual(done.slice(1), [["subscribe", "early", sound]]);
  listeners["participant-joined"]({ participant: { session_id: "bot" } });
  listeners["participant-joined"]({ participant: { local: true, session_id: "me" } });
  assert.deepEqual(done.slice(2), [["subscribe", "bot", sound]]);
  listeners["track-started"]({ participant: { local: true }, track: { kind: "audio", id: 1 } });
  listeners["track-started"]({ participant: {}, track: { kind: "video", id: 2 } });
  listeners["track-started"]({ participant: {}, track: { kind: "audio", id: 3 } });
  assert.deepEqual(done.slice(3), [["play", 3], ["send", "playable"]]);
  assert.deepEqual(told, [["state", "connecting"]]);
  hears("listening");
  assert.deepEqual(told.at(-1), ["state", "active"]);
  const plain = joined();
  plain.voice.startSession();
  await settle();
  assert.equal("token" in plain.done[0][1], false);
});

test("messages_of_the_room_show_who_speaks_and_what_is_odd_in_them_is_let_pass", async () => {
  const { voice, told, hears } = joined();
  voice.startSession();
  await settle();
  told.length = 0;
  for (const message of [
    { type: "transcript", role: "user", transcriptType: "partial", transcript: "add buy" },
    { type: "transcript[transcriptType='final']", role: "user", transcript: "add buy milk" },
    { type: "speech-update", role: "user", status: "started" },
    { type: "speech-update", role: "user", status: "stopped" },
    { type: "transcript", role: "assistant", transcriptType: "final", transcript: "Let's go!" },
    { type: "speech-update", role: "assistant", status: "started" },
  ]) hears(JSON.stringify(message));
  assert.equal(voice.isSpeaking(), true);
  hears({ type: "speech-update", role: "assistant", status: "stopped" });
  hears(JSON.stringify({ type: "tool-calls", toolCallList: [{ name: "createTask" }, { function: { name: "deleteTask" } }] }));
  for (const odd of ["", "{", "null", null, undefined, "7", "{}", JSON.stringify({ type: "status-update", status: "in-progress" })]) hears(odd);
  assert.deepEqual(told, [
    ["transcript", { text: "add buy", isFinal: false }],
    ["transcript", { text: "add buy milk", isFinal: true }],
    ["sound", true],
    ["sound", false],
    ["response", "Let's go!"],
    ["response", ""],
    ["function", "createTask"],
    ["function", "deleteTask"],
  ]);
});

test("mute_and_end_call_the_room_and_a_room_that_ends_ends_the_call_once", async () => {
  const { voice, told, done, listeners, hears, names } = joined();
  voice.startSession();
  await settle();
  listeners["track-started"]({ participant: {}, track: { kind: "audio", id: 3 } });
  voice.setMuted(true);
  voice.setMuted(false);
  voice.say("One minute of voice is left.");
  assert.deepEqual(done.slice(-3), [["audio", false], ["audio", true], ["send", JSON.stringify({ type: "say", message: "One minute of voice is left.", endCallAfterSpoken: false })]]);
  voice.say("The minutes are used up.", true);
  assert.equal(JSON.parse(done.at(-1)[1]).endCallAfterSpoken, true, "Vapi hangs up behind the last words");
  assert.deepEqual([voice.carries, voice.interrupt()], [true, []]);
  voice.endSession();
  await settle();
  assert.deepEqual(names().slice(-3), ["silence", "leave", "destroy"]);
  assert.deepEqual(told.at(-1), ["state", "idle"]);
  told.length = 0;
  hears("listening");
  listeners["left-meeting"]();
  assert.deepEqual(told, []);
  for (const end of [({ hears }) => hears(JSON.stringify({ type: "status-update", status: "ended" })), ({ listeners }) => listeners["left-meeting"](), ({ listeners }) => listeners["participant-left"]({ participant: {} })]) {
    const other = joined();
    other.voice.startSession();
    await settle();
    end(other);
    end(other);
    assert.deepEqual(other.told.slice(1), [["error", "ended"]]);
  }
});

test("a_room_that_cannot_be_joined_says_why", async () => {
  for (const [error, code] of [[{ type: "permissions", msg: "NotAllowedError" }, "not-allowed"], [{ type: "not-found", msg: "no microphone" }, "audio-capture"], [{ type: "no-room", msg: "The meeting does not exist" }, "connection"]]) {
    const { voice, told, listeners } = joined();
    voice.startSession();
    await settle();
    listeners[code === "connection" ? "error" : "camera-error"]({ error });
    assert.deepEqual(told.at(-1), ["error", code]);
  }
  const refused = joined({ join: () => Promise.reject(new Error("expired token")) });
  refused.voice.startSession();
  await settle();
  assert.deepEqual(refused.told.at(-1), ["error", "connection"]);
  // A person who hung up meanwhile has opened nothing.
  const late = joined();
  late.voice.startSession();
  late.voice.endSession();
  await settle();
  assert.deepEqual([late.made, late.told.at(-1)], [[], ["state", "idle"]]);
});

test("a_line_that_breaks_is_told_apart_from_a_room_that_is_over", async () => {
  for (const [type, code] of [["connection-error", "lost"], [undefined, "lost"], ["ejected", "ended"], ["exp-room", "ended"]]) {
    const { voice, told, listeners, hears } = joined();
    voice.startSession();
    await settle();
    hears("listening");
    listeners.error({ error: { type, msg: "it broke" } });
    // Daily leaves the room behind it.
    listeners["left-meeting"]();
    assert.deepEqual(told.slice(2), [["error", code]], type);
  }
});

test("vapi_is_taken_if_it_was_chosen_or_if_there_is_nothing_else", async () => {
  const joins = { RTCPeerConnection: class {}, navigator: { mediaDevices: { getUserMedia() {} } } };
  const recognises = { SpeechRecognition: class {} };
  const servers = { hears: null, vapi: true };
  const name = async (from, more) => (await chosenAdapter({ lang: "en-US", from, servers, ...more })).name;
  assert.deepEqual(adaptersFor(servers, { ...joins, ...recognises }), ["browser", "vapi"]);
  assert.deepEqual([await name({ ...joins, ...recognises }), await name({ ...joins, ...recognises }, { wanted: "vapi" }), await name(joins)], ["browser", "vapi", "vapi"]);
  assert.deepEqual([canJoin(recognises), adaptersFor({ vapi: true }, recognises)], [false, ["browser"]]);
});
