// Ears and a mouth of one's own: the end of an utterance by its level, WAV files, the microphone's
// errors, and sentences that are played.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createUtterances, levelOf } = await load("voice/levels.js");
const { createResampler, wavOf } = await load("voice/wav.js");
const { createListener } = await load("voice/listener.js");
const { createPlayer } = await load("voice/player.js");
const { adaptersFor, chosenAdapter } = await load("voice/service.js");
const { speechApi } = await load("core/api-voice.js");

const RATE = 16_000;
const settle = () => new Promise((resolve) => setImmediate(resolve));
/** 20 ms as loud as that. */
const frame = (level) => Float32Array.from({ length: RATE / 50 }, (_, at) => (at % 2 === 0 ? level : -level));
const ms = (frames) => frames.length * 20;

/** Hears `parts`, each `[ms, level, isSpeaking]`; what was told, with the time. */
function hears(...parts) {
  const told = [];
  let now = 0;
  const utterances = createUtterances({ rate: RATE, onBegin: (isOver) => told.push(["begin", now, isOver]), onEnd: (frames, isOver) => told.push(["end", now, ms(frames), isOver]) });
  for (const [long, level, isSpeaking] of parts) {
    for (let at = 0; at < long; at += 20) {
      now += 20;
      utterances.push(frame(level), isSpeaking);
    }
  }
  return told;
}

test("an_utterance_begins_with_speech_and_ends_with_half_a_second_of_quiet", () => {
  assert.ok(Math.abs(levelOf(frame(0.25)) - 0.25) < 1e-6);
  assert.equal(levelOf(new Float32Array(0)), 0);
  // 300 ms in front of it belong to it, and the quiet behind it.
  assert.deepEqual(hears([1000, 0.001], [600, 0.2], [1000, 0.001]), [["begin", 1120, false], ["end", 2100, 300 + 600 + 500, false]]);
  // A pause for breath ends nothing.
  assert.deepEqual(hears([400, 0.2], [480, 0.001], [400, 0.2], [500, 0.001]), [["begin", 120, false], ["end", 1780, 1780, false]]);
  // A knock is no speech, and a room that hums is no speech either.
  assert.deepEqual(hears([500, 0.001], [100, 0.5], [1000, 0.001]), []);
  assert.deepEqual(hears([5000, 0.01], [3000, 0.011]), []);
  assert.deepEqual(hears([10_000, 0.01], [500, 0.2], [600, 0.01]).map(([what]) => what), ["begin", "end"]);
});

test("nobody_is_heard_for_longer_than_half_a_minute_at_once", () => {
  const told = hears([70_000, 0.2], [500, 0.001]);
  assert.deepEqual(told.map(([what]) => what), ["begin", "end", "begin", "end", "begin", "end"]);
  assert.ok(told.every(([what, , long]) => what === "begin" || long <= 30_000));
  assert.equal(told[1][2], 30_000);
  // What half a minute weighs is taken by the server.
  assert.ok(wavOf(Array.from({ length: 1500 }, () => frame(0.1)), RATE).byteLength < 1 << 20);
});

test("the_pages_own_voice_has_to_be_outdone_and_a_person_who_does_is_told_within_a_moment", () => {
  // What comes back of the page's voice is softer than a person at the microphone.
  assert.deepEqual(hears([3000, 0.001], [3000, 0.02, true]), []);
  assert.deepEqual(hears([3000, 0.001], [1000, 0.02, true], [400, 0.2, true])[0], ["begin", 4120, true]);
  // Its own voice over, the same person is heard as ever.
  assert.deepEqual(hears([3000, 0.001], [400, 0.02])[0], ["begin", 3120, false]);
});

test("whatever_is_heard_no_sample_is_in_two_utterances_and_none_is_lost_within_one", () => {
  let state = 7;
  const next = (below) => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0), Math.floor((state / 2 ** 32) * below));
  for (let run = 0; run < 60; run += 1) {
    const all = Array.from({ length: 400 }, () => frame([0.001, 0.001, 0.02, 0.2, 0.5][next(5)]));
    const found = [];
    const utterances = createUtterances({ rate: RATE, onBegin: () => undefined, onEnd: (frames) => found.push(...frames) });
    for (const each of all) utterances.push(each, next(2) === 0);
    assert.equal(new Set(found).size, found.length);
    const places = found.map((each) => all.indexOf(each));
    assert.deepEqual(places, [...places].sort((a, b) => a - b));
  }
});

test("samples_become_a_file_that_every_program_reads", () => {
  const bytes = new DataView(wavOf([Float32Array.of(0, 1), Float32Array.of(-1, 0.5, 7)], RATE));
  const text = (at, length) => String.fromCharCode(...Array.from({ length }, (_, index) => bytes.getUint8(at + index)));
  assert.deepEqual([text(0, 4), text(8, 8), text(36, 4)], ["RIFF", "WAVEfmt ", "data"]);
  assert.deepEqual([bytes.getUint32(4, true), bytes.getUint32(40, true), bytes.byteLength], [46, 10, 54]);
  assert.deepEqual([bytes.getUint16(20, true), bytes.getUint16(22, true), bytes.getUint32(24, true), bytes.getUint32(28, true), bytes.getUint16(34, true)], [1, 1, RATE, RATE * 2, 16]);
  assert.deepEqual([0, 1, 2, 3, 4].map((at) => bytes.getInt16(44 + at * 2, true)), [0, 32767, -32767, 16384, 32767]);
});

test("sound_of_a_faster_machine_is_brought_to_the_rate_of_ears_however_it_is_cut", () => {
  for (const from of [48_000, 44_100, 22_050]) {
    const sound = Float32Array.from({ length: from }, (_, at) => Math.sin((at / from) * Math.PI * 2 * 200));
    const cut = (length) => {
      const resampled = createResampler(from, RATE);
      const all = [];
      for (let at = 0; at < sound.length; at += length) all.push(...resampled(sound.subarray(at, at + length)));
      return all;
    };
    const whole = cut(from);
    assert.ok(Math.abs(whole.length - RATE) <= 1, `${from}: ${whole.length}`);
    const pieces = cut(961);
    assert.ok(Math.abs(pieces.length - whole.length) <= 1);
    assert.ok(pieces.every((sample, at) => Math.abs(sample - Math.sin((at / RATE) * Math.PI * 2 * 200)) < 0.1), String(from));
  }
  const same = frame(0.3);
  assert.equal(createResampler(RATE, RATE)(same), same);
});

/** Ears whose microphone the test plays. */
function listening({ transcribe = async () => ({ text: "hello" }), open, onOpen } = {}) {
  const told = [];
  const opened = [];
  let isSpeaking = false;
  const tell = (name) => (...all) => told.push([name, ...all]);
  const ears = createListener({
    transcribe, isSpeaking: () => isSpeaking,
    onStart: tell("start"), onTranscript: tell("transcript"), onSound: tell("sound"), onLevel: () => undefined, onInterrupt: tell("interrupt"), onOpen, onError: tell("error"),
    open: open ?? (async (with_) => (opened.push({ ...with_, isOpen: true }), () => (opened.at(-1).isOpen = false))),
  });
  const play = (long, level) => Array.from({ length: long / 20 }, () => opened.at(-1).onFrame(frame(level)));
  return { ears, told, opened, play, speak: (is) => (isSpeaking = is) };
}

test("an_utterance_becomes_words_and_a_person_who_speaks_over_the_page_is_told_before_their_words", async () => {
  const { ears, told, play, speak } = listening();
  ears.start();
  await settle();
  play(500, 0.2);
  speak(true);
  play(600, 0.001);
  await settle();
  assert.deepEqual(told, [["start"], ["sound", true], ["sound", false], ["transcript", { text: "hello", isFinal: true, isOver: false }]]);
  told.length = 0;
  play(500, 0.4);
  assert.deepEqual(told, [["sound", true], ["interrupt"]]);
  play(600, 0.001);
  await settle();
  assert.deepEqual(told.at(-1), ["transcript", { text: "hello", isFinal: true, isOver: true }]);
});

test("an_utterance_is_open_until_its_words_are_known_and_meanwhile_the_page_speaks_over_nobody", async () => {
  const [opens, answers] = [[], []];
  const { ears, told, play, speak } = listening({ onOpen: (isOpen) => opens.push(isOpen), transcribe: () => new Promise((resolve) => answers.push(resolve)) });
  ears.start();
  await settle();
  play(400, 0.2);
  assert.deepEqual(opens, [true]);
  // Sentences wait to be spoken, and none is.
  speak(true);
  play(600, 0.001);
  play(400, 0.02);
  play(600, 0.001);
  assert.deepEqual([told.filter(([name]) => name === "sound").length, told.some(([name]) => name === "interrupt")], [4, false]);
  answers[0]({ text: "hello" });
  await settle();
  assert.deepEqual(opens, [true], "the second one is open");
  answers[1]({ text: "" });
  await settle();
  assert.deepEqual(opens, [true, false]);
  play(400, 0.4);
  ears.setMuted(true);
  assert.deepEqual(opens, [true, false, true, false]);
});

test("words_come_in_the_order_in_which_they_were_said_and_silence_is_none", async () => {
  const answers = [];
  const { ears, told, play } = listening({ transcribe: () => new Promise((resolve, reject) => answers.push({ resolve, reject })) });
  ears.start();
  await settle();
  for (let each = 0; each < 4; each += 1) {
    play(400, 0.2);
    play(600, 0.001);
  }
  const texts = () => told.filter(([name]) => name === "transcript").map(([, { text }]) => text);
  answers[1].resolve({ text: "second" });
  await settle();
  assert.deepEqual(texts(), []);
  answers[0].resolve({ text: "first" });
  answers[2].resolve({ text: "" });
  answers[3].reject(new Error("The speech server is silent."));
  await settle();
  assert.deepEqual(texts(), ["first", "second"]);
  assert.deepEqual(told.at(-1), ["error", "server", "The speech server is silent."]);
});

test("a_microphone_that_is_denied_missing_or_pulled_out_ends_the_listening_with_its_reason", async () => {
  for (const [name, code] of [["NotAllowedError", "not-allowed"], ["NotFoundError", "audio-capture"], ["NotReadableError", "audio-capture"], ["TypeError", "audio-capture"]]) {
    const { ears, told } = listening({ open: async () => { throw Object.assign(new Error("no"), { name }); } });
    ears.start();
    await settle();
    assert.deepEqual(told, [["error", code]], name);
  }
  const { ears, told, opened } = listening();
  ears.start();
  await settle();
  opened[0].onLost();
  assert.deepEqual([told.at(-1), opened[0].isOpen], [["error", "audio-capture"], false]);
});

test("a_person_who_is_muted_has_a_closed_microphone_and_what_was_begun_is_forgotten", async () => {
  const asked = [];
  const { ears, told, opened, play } = listening({ transcribe: async () => (asked.push(1), { text: "x" }) });
  ears.start();
  await settle();
  play(300, 0.2);
  ears.setMuted(true);
  assert.deepEqual([opened[0].isOpen, told.at(-1)], [false, ["sound", false]]);
  ears.setMuted(false);
  await settle();
  assert.equal(opened.length, 2);
  play(600, 0.001);
  assert.equal(asked.length, 0);
  // Words that come behind the end of the call are nobody's.
  play(300, 0.2);
  play(600, 0.001);
  ears.stop();
  await settle();
  assert.deepEqual([asked.length, told.filter(([name]) => name === "transcript").length, opened[1].isOpen], [1, 0, false]);
});

/** A mouth whose server and loudspeaker the test plays. */
function speaking({ decode = async (bytes) => bytes } = {}) {
  const told = [];
  const asked = [];
  const playing = [];
  const timers = [];
  const output = {
    decode,
    play(sound, onEnd) {
      const one = { sound, onEnd };
      playing.push(one);
      return () => (one.isStopped = true);
    },
    close: () => undefined,
  };
  const speech = (text, signal) => new Promise((resolve, reject) => {
    asked.push({ text, signal, resolve: () => resolve(`sound of ${text}`), reject: (words) => reject(new Error(words)) });
    signal.addEventListener("abort", () => reject(new Error("aborted")));
  });
  const clock = { setTimeout: (work, wait) => timers.push({ work, wait }), clearTimeout: () => undefined };
  const mouth = createPlayer({ speech, output, clock, onSay: (...all) => told.push(["say", ...all]), onQuiet: () => told.push(["quiet"]), onError: (words) => told.push(["error", words]) });
  return { mouth, told, asked, playing, timers };
}

test("the_next_sentence_is_on_its_way_while_one_is_played", async () => {
  const { mouth, told, asked, playing } = speaking();
  for (const text of ["One.", "Two.", "Three."]) mouth.say(text);
  assert.deepEqual(asked.map(({ text }) => text), ["One.", "Two."]);
  assert.equal(mouth.isSpeaking(), true);
  asked[1].resolve();
  asked[0].resolve();
  await settle();
  assert.deepEqual([told, playing.map(({ sound }) => sound)], [[["say", "One.", true]], ["sound of One."]]);
  playing[0].onEnd();
  await settle();
  assert.deepEqual([playing.at(-1).sound, asked.at(-1).text], ["sound of Two.", "Three."]);
  playing[1].onEnd();
  asked[2].resolve();
  await settle();
  playing[2].onEnd();
  await settle();
  assert.deepEqual([told.at(-1), mouth.isSpeaking()], [["quiet"], false]);
});

test("a_sentence_that_is_held_is_not_played_though_its_sound_is_there", async () => {
  const { mouth, asked, playing } = speaking();
  mouth.hold(true);
  mouth.say("One.");
  asked[0].resolve();
  await settle();
  assert.equal(playing.length, 0);
  mouth.hold(false);
  await settle();
  assert.equal(playing.length, 1);
  mouth.say("Two.");
  asked[1].resolve();
  mouth.hold(true);
  playing[0].onEnd();
  await settle();
  assert.deepEqual([playing.length, mouth.stop()], [1, ["Two."]]);
  mouth.hold(false);
  await settle();
  assert.equal(playing.length, 1);
});

test("who_is_interrupted_falls_silent_at_once_and_says_nothing_of_what_waited", async () => {
  const { mouth, asked, playing } = speaking();
  for (const text of ["One.", "Two.", "Three."]) mouth.say(text);
  asked[0].resolve();
  await settle();
  assert.deepEqual(mouth.stop(), ["One.", "Two.", "Three."]);
  assert.deepEqual([playing[0].isStopped, asked[1].signal.aborted, mouth.isSpeaking()], [true, true, false]);
  playing[0].onEnd();
  await settle();
  assert.equal(playing.length, 1);
  // Also before the first sound has come.
  mouth.say("Four.");
  assert.deepEqual([mouth.stop(), asked.at(-1).signal.aborted], [["Four."], true]);
  mouth.say("Five.");
  asked.at(-1).resolve();
  await settle();
  assert.equal(playing.at(-1).sound, "sound of Five.");
});

test("a_sentence_that_the_server_cannot_say_is_shown_and_the_reason_told_once", async () => {
  const { mouth, told, asked, timers } = speaking();
  mouth.say("One.");
  mouth.say("Two.");
  asked[0].reject("The speech server is away.");
  asked[1].reject("The speech server is away.");
  await settle();
  assert.deepEqual(told, [["error", "The speech server is away."], ["say", "One.", false]]);
  assert.equal(timers[0].wait, 600 + 4 * 40);
  timers[0].work();
  await settle();
  assert.deepEqual(told.at(-1), ["say", "Two.", false]);
});

test("a_sound_that_the_browser_cannot_read_is_told_in_words_of_the_page", async () => {
  const { mouth, told, asked } = speaking({ decode: () => Promise.reject(new DOMException("Unable to decode audio data", "EncodingError")) });
  mouth.say("One.");
  asked[0].resolve();
  await settle();
  assert.deepEqual(told, [["error", "This did not work. Load the page again."], ["say", "One.", false]]);
});

test("the_page_takes_what_the_person_chose_else_a_server_else_the_browser", async () => {
  const records = { navigator: { mediaDevices: { getUserMedia() {} } }, AudioContext: class {}, AudioWorkletNode: class {} };
  const recognises = { SpeechRecognition: class {} };
  const servers = { hears: "127.0.0.1:8080", speaks: null };
  const choose = async (from, more) => {
    const { name, where, host } = await chosenAdapter({ lang: "en-US", from, ...more });
    return [name, where, host];
  };
  const both = { ...records, ...recognises };
  assert.deepEqual(await choose(both, { servers }), ["own", "own", "127.0.0.1:8080"]);
  assert.deepEqual(await choose(both, { servers, wanted: "browser" }), ["browser", "maker", undefined]);
  assert.deepEqual(await choose(both, { wanted: "own" }), ["browser", "maker", undefined]);
  assert.deepEqual(await choose(records, { servers, wanted: "browser" }), ["own", "own", "127.0.0.1:8080"]);
  assert.deepEqual(await choose(recognises, { servers }), ["browser", "maker", undefined]);
  assert.deepEqual(await choose({}, { servers }), ["browser", "none", undefined]);
  assert.deepEqual(adaptersFor({ hears: null, speaks: "x" }, both), ["browser"]);
});

test("a_refusal_of_the_server_is_a_sentence", async () => {
  const asked = [];
  const answer = (ok, status, body) => async (path, options) => (asked.push([path, options.headers["content-type"]]), { ok, status, json: async () => body, arrayBuffer: async () => "sound" });
  assert.deepEqual(await speechApi(answer(true, 200, { text: "hi" })).transcribe("wav", "pt-BR"), { text: "hi" });
  assert.equal(await speechApi(answer(true, 200)).speak("hi"), "sound");
  assert.deepEqual(asked, [["/api/voice/transcriptions?lang=pt-BR", "audio/wav"], ["/api/voice/speech", "application/json"]]);
  await assert.rejects(speechApi(answer(false, 504, { error: "It is silent." })).speak("hi"), { message: "It is silent.", status: 504 });
  await assert.rejects(speechApi(async () => { throw new TypeError("failed"); }).transcribe("wav", "en-US"), (error) => !/failed/.test(error.message) && error.message.length > 10);
});
