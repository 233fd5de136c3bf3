// A call with Law as a whole: what is heard becomes messages, what is answered is spoken, and the
// call keeps to what the server says.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createCalls } = await load("voice/call.js");
const { createStore } = await load("core/store.js");
const { initialWorkspace, reduceWorkspace } = await load("core/workspace.js");
const said = (await load("words/en-voice.js")).default;

const LAW = 7;
const hello = { type: "hello", conversation: 1, conversations: { builder: 1, law: LAW }, last_seq: 0, model: {}, version: "1" };
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A clock whose timers are rung by their place. */
function bell() {
  let count = 0;
  const timers = new Map();
  const ring = (ms) => {
    for (const [id, timer] of [...timers]) if (timer.ms === ms) (timers.delete(id), timer.work());
  };
  return { setTimeout: (work, ms) => (timers.set((count += 1), { work, ms }), count), clearTimeout: (id) => timers.delete(id), ring, all: () => [...timers.values()].map(({ ms }) => ms) };
}

/** A call that is connected, at a server that the test plays. */
async function connected({ lang = "en-US", adapter = "browser", words = said, ...answers } = {}) {
  const store = createStore({ initial: initialWorkspace(), reducer: reduceWorkspace, schedule: (tell) => tell() });
  const asked = [];
  const sent = [];
  const clock = bell();
  const listeners = {};
  const spoken = [];
  const voices = [];
  let seq = 0;
  let number = 40;
  const call = () => ({ call: number, conversation: LAW, state: "active", seconds_left: 3600, warned: false, beat_seconds: 10 });
  const api = {
    begin: async (...all) => (asked.push(["begin", ...all]), answers.begin ? answers.begin() : ((number += 1), call())),
    beat: async (id) => (asked.push(["beat", id]), answers.beat ? answers.beat(call()) : call()),
    end: async (...all) => (asked.push(["end", ...all]), {}),
    line: async () => ({ voice: true, seconds_left: 3600, call: null, ...answers.line }),
  };
  function makeService({ lang: tag }) {
    const voice = { isOn: true, waits: [], tag };
    voices.push(voice);
    const on = (name) => (listener) => (listeners[name] = listener);
    return Object.assign(voice, {
      startSession: () => listeners.state("active"),
      endSession: () => (voice.isOn = false),
      deafen: () => (voice.isOn = false),
      setMuted: () => undefined,
      say: (text) => (spoken.push(text), voice.waits.push(text), listeners.response(text)),
      hold: (is) => (voice.isHeld = is),
      interrupt: () => voice.waits.splice(0),
      isSpeaking: () => voice.waits.length > 0,
      functionCalled: (name) => listeners.function(name),
      onTranscript: on("heard"), onResponse: on("response"), onFunctionCall: on("function"), onSound: on("sound"), onInterrupt: on("interrupt"), onOpen: on("open"), onError: on("error"), onStateChange: on("state"),
    });
  }
  const frame = (type, fields) => store.dispatch({ type, conversation: LAW, seq: (seq += 1), at: "2026-11-28T08:00:00Z", ...fields });
  const views = [];
  const calls = createCalls({ api, store, follow: async (id) => store.dispatch({ type: "@follow", conversation: id, after: 0 }), send: (message) => sent.push(message), makeService, said: words, lang: () => lang, told: (view) => views.push(view), clock });
  store.dispatch(hello);
  store.dispatch({ type: "@connection", status: "connected", failures: 0, retryAt: null });
  const begin = calls.begin({ adapter, where: "device" });
  const refused = await begin.catch((error) => error);
  await settle();
  const heard = (text, isFinal = true, confidence = 0.9, isOver = false) => listeners.heard({ text, isFinal, confidence, isOver });
  /** Law has said all that there was. */
  const quiet = () => ((voices.at(-1).waits.length = 0), listeners.response(""));
  /** The server takes words into a turn, and has the model see them from a step on. */
  const steers = (turn, message, content) => frame("turn", { turn, state: "running", id: `m${message}`, content, message });
  const shows = (turn, message, step) => frame("shown", { turn, step, messages: [message] });
  const delta = (turn, content, more) => store.dispatch({ type: "delta", conversation: LAW, turn, step: 1, attempt: 1, content, ...more });
  const ask = (id, turn = 1) => frame("approval", { id, turn, call: 3, state: "pending", tool: "createTask", arguments: {}, question: "Should I create “milk”?", words: {}, expires_at: "2026-11-28T09:00:00Z" });
  return { calls, store, asked, sent, spoken, voices, clock, frame, heard, quiet, steers, shows, delta, ask, refused, views, listeners, queued: (turn) => frame("turn", { turn, state: "queued", origin: "message", content: "x" }) };
}

test("a_function_that_law_calls_is_told_to_the_voice_once_until_law_speaks", async () => {
  const { frame, queued, views, listeners } = await connected();
  const does = () => views.at(-1).doing;
  queued(1);
  frame("tool_call", { turn: 1, call: 3, name: "completeTask", arguments: { name: "milk" } });
  assert.equal(does(), "completeTask");
  listeners.response("Done.");
  frame("tool_result", { turn: 1, call: 3, name: "completeTask", result: "{}" });
  assert.equal(does(), undefined, "what was told is not told again with its outcome");
});

test("what_is_heard_is_a_message_of_the_call_and_the_answer_is_spoken_while_it_is_written", async () => {
  const { calls, asked, sent, heard, delta, spoken, frame, queued } = await connected();
  assert.deepEqual([calls.view().state, asked], ["active", [["begin", "browser", false], ["beat", 41]]]);
  heard("add buy", false);
  assert.equal(calls.view().interim, "add buy");
  heard("add buy milk");
  assert.deepEqual(sent, [{ content: "add buy milk", conversation: LAW, call: 41 }]);
  queued(1);
  delta(1, "Let's go! I a");
  delta(1, "dd **it**. Th");
  assert.deepEqual(spoken, ["Let's go!", "I add it."]);
  frame("assistant", { turn: 1, step: 1, content: "Let's go! I add **it**. Then more", final: true });
  frame("turn", { turn: 1, state: "completed" });
  assert.deepEqual(spoken, ["Let's go!", "I add it.", "Then more"]);
});

test("what_was_said_before_the_call_is_not_read_out", async () => {
  const made = await connected();
  await made.calls.end();
  made.queued(1);
  made.frame("assistant", { turn: 1, step: 1, content: "Typed.", final: true });
  await made.calls.begin({ adapter: "browser", where: "device" });
  await settle();
  made.queued(2);
  made.frame("assistant", { turn: 2, step: 1, content: "Spoken.", final: true });
  assert.deepEqual(made.spoken, ["Spoken."]);
  // Typed during a call it is answered aloud as well; an order by hand is not.
  made.frame("turn", { turn: 3, state: "queued", origin: "command", content: "completeTask" });
  made.frame("assistant", { turn: 3, step: 1, content: "Carried out.", final: true });
  assert.deepEqual(made.spoken, ["Spoken."]);
});

test("a_question_is_spoken_once_and_the_next_words_are_its_answer", async () => {
  const { sent, heard, ask, spoken, queued, voices, frame } = await connected();
  queued(1);
  ask(5);
  assert.deepEqual(spoken, ["Should I create “milk”?"]);
  voices[0].waits.length = 0;
  heard("go ahead");
  assert.deepEqual(sent, [{ content: "go ahead", conversation: LAW, call: 41 }], "it steers nothing: it decides");
  frame("approval", { id: 5, turn: 1, call: 3, state: "approved", channel: "voice" });
  assert.equal(spoken.length, 1);
});

test("an_unclear_answer_is_not_sent_and_the_question_is_said_once_more", async () => {
  const { sent, heard, ask, spoken, clock, queued, voices } = await connected();
  queued(1);
  ask(5);
  voices[0].waits.length = 0;
  heard("uhm");
  heard("go a head", true, 0.1);
  assert.deepEqual([sent, spoken.length], [[], 1]);
  clock.ring(3000);
  assert.equal(spoken.length, 2);
  voices[0].waits.length = 0;
  heard("hm");
  clock.ring(3000);
  assert.equal(spoken.length, 2, "once");
  heard("yes");
  assert.equal(sent.length, 1);
});

test("after_the_second_word_nothing_more_is_spoken_and_what_is_said_joins_the_turn", async () => {
  const { calls, sent, heard, steers, shows, delta, spoken, queued, frame, voices } = await connected();
  queued(1);
  delta(1, "One. Two. Three. Fo");
  assert.equal(spoken.length, 3);
  heard("wait", false);
  assert.equal(voices[0].waits.length, 3, "one word may be a cough");
  heard("wait a", false);
  assert.deepEqual([voices[0].waits, calls.view().unheard], [[], ["One.", "Two.", "Three."]]);
  delta(1, "ur. Five. Six");
  frame("assistant", { turn: 1, step: 1, content: "One. Two. Three. Four. Five. Six", final: false });
  assert.equal(spoken.length, 3, "what was queued is dropped, and the rest is not read");
  heard("wait a moment");
  assert.deepEqual(sent, [{ content: "wait a moment", conversation: LAW, call: 41, steer: true }]);
  steers(1, 9, "wait a moment");
  frame("assistant", { turn: 1, step: 2, content: "Still the old one.", final: false });
  assert.equal(spoken.length, 3, "a step that has not heard it is not spoken");
  shows(1, 9, 3);
  frame("assistant", { turn: 1, step: 3, content: "All right.", final: true });
  assert.deepEqual(spoken.slice(3), ["All right."], "the answer to that is spoken");
});

test("the_conversation_keeps_from_which_sentence_on_an_answer_was_not_heard", async () => {
  const { store, heard, quiet, steers, shows, delta, queued, frame } = await connected();
  const unheard = () => Object.fromEntries(store.getState().states.get(LAW).unheard ?? []);
  queued(1);
  delta(1, "One. Two. Three. Fo");
  assert.deepEqual(unheard(), {});
  heard("wait a", false);
  assert.deepEqual(unheard(), { "1:1": "One." });
  frame("assistant", { turn: 1, step: 1, content: "One. Two. Three. Four.", final: false });
  heard("wait a moment");
  steers(1, 9, "wait a moment");
  frame("assistant", { turn: 1, step: 2, content: "Still the old one.", final: false });
  shows(1, 9, 3);
  frame("assistant", { turn: 1, step: 3, content: "All right. Bye.", final: true });
  frame("turn", { turn: 1, state: "completed" });
  assert.deepEqual(unheard(), { "1:1": "One.", "1:2": "" }, "a step that was not read at all is marked whole");
  // Between two sentences nothing waits to be spoken, and the rest that is written then is missed.
  quiet();
  queued(2);
  delta(2, "Five. Si");
  quiet();
  heard("stop it", false);
  frame("assistant", { turn: 2, step: 1, content: "Five. Six. Seven.", final: true });
  frame("turn", { turn: 2, state: "completed" });
  heard("stop it now");
  frame("turn", { turn: 3, state: "queued", origin: "message", id: "m3", content: "stop it now" });
  assert.equal(unheard()["2:1"], "Six.");
});

test("the_language_of_the_person_is_that_of_the_voice_and_of_the_words_of_vapis_call", async () => {
  const { voices, spoken, delta, queued } = await connected({ lang: "de-AT" });
  assert.equal(voices[0].tag, "de-AT");
  queued(1);
  delta(1, "Am 3. Mai ist es so weit. D");
  assert.deepEqual(spoken, ["Am 3. Mai ist es so weit."]);
  const vapi = await connected({ lang: "pt-BR", adapter: "vapi" });
  assert.deepEqual(vapi.asked[0], ["begin", "vapi", false, "pt-BR"]);
});

test("who_speaks_while_law_thinks_or_takes_breath_is_not_talked_over", async () => {
  const { sent, heard, quiet, steers, shows, delta, spoken, queued, frame, voices } = await connected();
  queued(1);
  delta(1, "One. Tw");
  quiet();
  heard("wait", false);
  assert.equal(voices[0].isHeld, true, "after one word no sentence is begun");
  heard("wait a", false);
  delta(1, "o. Three. F");
  delta(1, "Three. Four. Again", { attempt: 2 });
  delta(1, "Five. Six. S", { step: 2 });
  assert.deepEqual(spoken, ["One."]);
  heard("wait a moment");
  assert.deepEqual([sent.length, voices[0].isHeld], [1, false]);
  delta(1, "even. Eight. N", { step: 2 });
  steers(1, 9, "wait a moment");
  frame("assistant", { turn: 1, step: 2, content: "Five. Six. Seven. Eight. Nine.", final: false });
  shows(1, 9, 3);
  delta(1, "All right. N", { step: 3 });
  assert.deepEqual(spoken, ["One.", "All right."]);
});

test("the_answer_to_a_word_that_decided_is_spoken_and_so_is_that_of_another_turn", async () => {
  const { heard, quiet, ask, spoken, queued, frame } = await connected();
  queued(1);
  ask(5);
  quiet();
  heard("go ahead");
  frame("approval", { id: 5, turn: 1, call: 3, state: "approved", channel: "voice" });
  frame("turn", { turn: 1, state: "queued", id: "m1", content: "go ahead" });
  frame("assistant", { turn: 1, step: 2, content: "It is there.", final: true });
  assert.equal(spoken.at(-1), "It is there.");
  // The words did not join a turn that nobody had taken up.
  queued(2);
  heard("and eggs");
  frame("turn", { turn: 3, state: "queued", origin: "message", id: "m2", content: "and eggs" });
  frame("assistant", { turn: 2, step: 1, content: "Milk, too.", final: true });
  frame("turn", { turn: 2, state: "completed" });
  frame("assistant", { turn: 3, step: 1, content: "And eggs.", final: true });
  assert.deepEqual(spoken.slice(-2), ["Milk, too.", "And eggs."]);
});

test("law_goes_on_if_what_silenced_it_said_nothing_was_lost_or_was_not_taken", async () => {
  const { calls, store, heard, quiet, spoken, queued, frame, voices, clock, sent } = await connected();
  queued(1);
  heard("and then", false);
  frame("assistant", { turn: 1, step: 1, content: "One.", final: false });
  assert.deepEqual(spoken, []);
  clock.ring(2500);
  assert.deepEqual([spoken, voices[0].isHeld, calls.view().interim], [["One."], false, ""], "the recogniser lost it");
  quiet();
  heard("uhm hm", false);
  frame("assistant", { turn: 1, step: 2, content: "Two.", final: false });
  heard("uhm hm");
  assert.deepEqual([spoken, sent], [["One.", "Two."], []]);
  quiet();
  heard("stop it now");
  frame("assistant", { turn: 1, step: 3, content: "Three.", final: true });
  store.dispatch({ type: "@outbox", conversation: LAW, entries: [{ id: "x", content: "stop it now", call: 41, status: "refused", error: "See **[the tiers](https://a.example/x)**." }] });
  assert.deepEqual(spoken.slice(2), ["See the tiers.", "Three."]);
});

test("a_turn_that_ends_under_the_persons_words_is_read_only_if_they_were_nothing", async () => {
  const { heard, quiet, spoken, delta, queued, frame, clock } = await connected();
  const ends = (turn, content) => {
    frame("assistant", { turn, step: 1, content, final: true });
    frame("turn", { turn, state: "completed" });
  };
  queued(1);
  heard("and then", false);
  ends(1, "One.");
  clock.ring(2500);
  assert.deepEqual(spoken, ["One."]);
  quiet();
  queued(2);
  heard("stop it now");
  ends(2, "Two.");
  heard("uhm");
  queued(3);
  heard("uhm");
  ends(3, "Three.");
  assert.deepEqual(spoken, ["One.", "Three."], "an old answer does not come back");
  quiet();
  // The step that ran is not read on where the words became another turn.
  queued(4);
  heard("and eggs");
  delta(4, "Four. Fi");
  queued(5);
  delta(4, "ve. Six. Se");
  ends(4, "Four. Five. Six. Seven.");
  assert.deepEqual(spoken.slice(2), []);
});

test("no_sentence_is_begun_while_somebody_speaks_to_a_speech_server", async () => {
  const { heard, delta, spoken, queued, frame, listeners, voices } = await connected();
  queued(1);
  listeners.open(true);
  assert.equal(voices[0].isHeld, true);
  listeners.open(false);
  assert.equal(voices[0].isHeld, false, "it was a noise");
  delta(1, "One. T");
  listeners.open(true);
  listeners.interrupt();
  frame("assistant", { turn: 1, step: 2, content: "Two.", final: false });
  assert.deepEqual([spoken, voices[0].waits], [["One."], []]);
  heard("wait");
  assert.equal(voices[0].isHeld, true, "somebody speaks on");
  listeners.open(false);
  assert.deepEqual([spoken, voices[0].isHeld], [["One."], false]);
});

test("the_pages_own_voice_interrupts_nothing", async () => {
  const { sent, heard, delta, voices, queued } = await connected();
  queued(1);
  delta(1, "You have three tasks today. N");
  heard("you have three", false);
  heard("you have three tasks");
  assert.deepEqual([sent, voices[0].waits.length], [[], 1]);
});

test("the_pages_own_voice_is_no_answer_for_two_seconds_behind_its_last_word_and_over_two_sentences", async () => {
  const { sent, heard, quiet, delta, ask, voices, queued, clock } = await connected();
  queued(1);
  delta(1, "You have three tasks today. That is all. N");
  ask(5);
  quiet();
  heard("tasks today that is", false);
  heard("tasks today that is all");
  heard("is all should I create milk");
  assert.deepEqual([sent, voices[0].isHeld], [[], false]);
  heard("no");
  assert.equal(sent.length, 1, "a short word is a person's");
  clock.ring(2000);
  heard("that is all");
  assert.equal(sent.length, 2, "later it is a person's");
  heard("is all should I", true, 0.9, true);
  assert.equal(sent.length, 2, "a speech server takes its time over what began while Law spoke");
});

test("what_was_taken_back_is_not_spoken_on_and_is_corrected", async () => {
  const { delta, spoken, frame, queued, voices } = await connected();
  queued(1);
  delta(1, "Done. It is on the list. And");
  frame("assistant", { turn: 1, step: 1, content: "Done. It is on the list. And more.", final: false, unproven: true });
  assert.deepEqual([spoken.at(-1), voices[0].waits], [said.correct, [said.correct]]);
  frame("assistant", { turn: 1, step: 2, content: "I could not add it.", final: true });
  assert.equal(spoken.at(-1), "I could not add it.");
});

test("a_last_answer_that_nothing_shows_is_said_to_be_unsure", async () => {
  const { spoken, frame, queued } = await connected();
  queued(1);
  frame("assistant", { turn: 1, step: 1, content: "Done. It is on the list.", final: true, unproven: true });
  assert.deepEqual(spoken, ["Done.", "It is on the list.", said.unsure]);
});

test("questions_and_failures_are_cleaned_and_cut_before_they_are_spoken", async () => {
  const { spoken, frame, queued, quiet, heard, clock } = await connected();
  queued(1);
  const question = `Should I call **https://a.example/${"x".repeat(300)}** for \`milk\` 🎉?`;
  frame("approval", { id: 5, turn: 1, call: 3, state: "pending", tool: "x", arguments: {}, question, words: {}, expires_at: "2026-11-28T09:00:00Z" });
  assert.deepEqual(spoken, ["Should I call a link for milk?"]);
  quiet();
  heard("uhm");
  clock.ring(3000);
  assert.deepEqual(spoken.slice(1), ["Should I call a link for milk?"]);
  frame("error", { turn: 1, content: `See [the log](https://a.example/y). ${"#1 ".repeat(70)}`, failure: "model" });
  assert.equal(spoken[2], "See the log.");
  assert.ok(spoken.length > 4 && spoken.every((text) => text.length < 200 && !/[*#\x60]/.test(text)));
});

test("a_network_that_comes_back_is_no_error_any_more", async () => {
  const { calls, listeners, heard } = await connected();
  listeners.error("network");
  assert.equal(calls.view().error, "network");
  heard("hi", false);
  assert.equal(calls.view().error, undefined);
});

test("a_turn_that_fails_is_said_aloud_and_so_is_a_message_that_was_not_taken", async () => {
  const { spoken, frame, queued } = await connected();
  queued(1);
  frame("error", { turn: 1, content: "Please wait a moment", failure: "model" });
  assert.deepEqual(spoken, ["Please wait a moment"]);
});

test("of_a_model_that_fails_a_page_in_another_language_says_its_own_words", async () => {
  const noModel = (await load("words/pt.js")).default.banners.model.first;
  const { spoken, frame, queued } = await connected({ words: { ...said, noModel } });
  queued(1);
  frame("error", { turn: 1, content: "Please wait a moment", failure: "model" });
  queued(2);
  frame("error", { turn: 2, content: "There are no steps left.", failure: "limit" });
  assert.deepEqual(spoken, [noModel, "There are no steps left."]);
});

test("the_last_minute_is_said_once_and_the_end_in_the_servers_words", async () => {
  let left = 60;
  const spent = Object.assign(new Error("You've used your voice minutes for this month."), { status: 410 });
  const answers = {
    beat: (call) => {
      if (left === 0) throw spent;
      return { ...call, seconds_left: left, warned: true };
    },
    line: { seconds_left: 0 },
  };
  const { calls, clock, spoken, asked, voices } = await connected(answers);
  assert.deepEqual(spoken, ["One minute of voice is left for this month."]);
  clock.ring(10_000);
  await settle();
  assert.equal(spoken.length, 1);
  left = 4;
  clock.ring(10_000);
  await settle();
  assert.ok(clock.all().includes(4500), "the end is looked at when it comes");
  left = 0;
  clock.ring(4500);
  await settle();
  await settle();
  assert.deepEqual([spoken.at(-1), calls.view().state, calls.view().ended, voices[0].isOn], [spent.message, "idle", spent.message, false]);
  assert.equal(asked.filter(([what]) => what === "begin").length, 1, "it is not begun again");
});

test("a_call_that_was_lost_is_begun_again_once", async () => {
  const over = Object.assign(new Error("Call ended"), { status: 410 });
  const lost = new Set();
  const { calls, clock, asked } = await connected({ beat: (call) => (lost.has(call.call) ? Promise.reject(over) : call) });
  const lose = async (call) => {
    lost.add(call);
    clock.ring(10_000);
    for (let turn = 0; turn < 5; turn += 1) await settle();
  };
  await lose(41);
  assert.deepEqual([calls.view().state, asked.filter(([what]) => what === "begin").length], ["active", 2]);
  await lose(42);
  assert.deepEqual([calls.view().state, calls.view().ended], ["idle", said.ended]);
});

test("a_line_that_broke_takes_the_call_over_once_and_then_it_is_over", async () => {
  const { calls, asked, listeners, voices } = await connected();
  listeners.error("lost");
  await settle();
  assert.deepEqual([calls.view().state, voices.map(({ isOn }) => isOn)], ["active", [false, true]]);
  assert.deepEqual(asked.slice(2), [["begin", "browser", true], ["beat", 42]], "to the server the first one goes on until then");
  listeners.error("lost");
  await settle();
  assert.deepEqual([calls.view().state, calls.view().ended, asked.at(-1)], ["idle", said.ended, ["end", 42, false]]);
  // Without the server there is nothing to go on with.
  let isThere = true;
  const gone = await connected({ begin: () => (isThere ? Promise.resolve({ call: 50, conversation: LAW, seconds_left: 9, beat_seconds: 10 }) : Promise.reject(new Error("fetch failed"))) });
  isThere = false;
  gone.listeners.error("lost");
  await settle();
  assert.deepEqual([gone.calls.view().state, gone.calls.view().ended], ["idle", said.ended]);
  assert.deepEqual(gone.asked.at(-1), ["end", 50, false], "nothing took it over");
});

test("a_refusal_is_thrown_and_leaves_no_call_and_a_microphone_that_is_denied_ends_one", async () => {
  const { refused, calls, voices } = await connected({ begin: () => Promise.reject(Object.assign(new Error("Talking with Law is not part of your tier."), { status: 403 })) });
  assert.deepEqual([refused.status, calls.view().state, calls.view().error, voices.length], [403, "idle", undefined, 0]);
  const made = await connected();
  made.listeners.error("not-allowed");
  assert.deepEqual([made.calls.view().state, made.calls.view().error, made.asked.at(-1)], ["error", "denied", ["end", 41, true]]);
  await made.calls.begin({ adapter: "browser", where: "device" });
  await settle();
  assert.deepEqual([made.calls.view().state, made.calls.view().error], ["active", undefined], "it goes on once it is allowed");
  await made.calls.end();
  assert.deepEqual([made.asked.at(-1), made.calls.view().ended, made.voices.at(-1).isOn], [["end", 42, false], said.ended, false]);
});

test("the_warning_says_how_much_is_left", async () => {
  const { spoken } = await connected({ beat: (call) => ({ ...call, seconds_left: 42, warned: true }) });
  assert.deepEqual(spoken, ["42 seconds of voice are left for this month."]);
  const pt = (await load("words/pt-voice.js")).default;
  assert.deepEqual([60, 42, 1].map(pt.secondsLeft), ["Resta um minuto de voz neste mês.", "Restam 42 segundos de voz neste mês.", "Resta um segundo de voz neste mês."]);
  assert.deepEqual(Object.keys(pt), Object.keys(said));
});
