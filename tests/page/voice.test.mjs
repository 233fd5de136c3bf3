// Calls with Law: text cut into sentences that can be spoken, ears that are started again, a mouth
// that falls silent, and the call itself.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createCutter, MOST_CHARACTERS, pieces } = await load("voice/sentences.js");
const { createSpeech, sentencesOf, speakable } = await load("voice/speakable.js");
const { isEcho, isUnclear } = await load("voice/echo.js");
const { nextState } = await load("voice/machine.js");
const { createEars, whereSoundGoes } = await load("voice/browser.js");
const { createSpeaker, voiceFor } = await load("voice/speaker.js");
const { sentenceOf } = await load("voice/clock.js");
const { HESITATIONS } = await load("voice/hesitations.js");
const { TALKED, tagOf } = await load("voice/language.js");
const said = (await load("words/en-voice.js")).default;

/** Whole, and letter by letter. */
const cut = (lang, text) => {
  const once = createCutter(lang);
  const whole = [...once.push(text), ...once.flush()];
  const again = createCutter(lang);
  assert.deepEqual([...[...text].flatMap((letter) => again.push(letter)), ...again.flush()], whole, `${lang}: ${text}`);
  return whole;
};

test("a_text_is_cut_where_a_person_takes_breath_in_five_languages", () => {
  const table = [
    ["en", "Done! You're crushing it!", ["Done!", "You're crushing it!"]],
    ["en", "Mr. Smith pays 3.50 at 5 p.m. today. Really?", ["Mr. Smith pays 3.50 at 5 p.m. today.", "Really?"]],
    ["en", "Well… let me see. J. R. Tolkien wrote it.", ["Well… let me see.", "J. R. Tolkien wrote it."]],
    ["en", "Wait... What? “Yes.” Good", ["Wait...", "What?", "“Yes.”", "Good"]],
    ["en", "one\ntwo\n\nthree", ["one", "two", "three"]],
    ["en", "Version 2.0.1 is live. Try e.g. apples.", ["Version 2.0.1 is live.", "Try e.g. apples."]],
    ["de", "Am 3. Mai kommt Dr. Weiß, d.h. morgen. Los!", ["Am 3. Mai kommt Dr. Weiß, d.h. morgen.", "Los!"]],
    ["de", "Das kostet 1.000,50 Euro. z.B. Brot.", ["Das kostet 1.000,50 Euro. z.B. Brot."]],
    ["fr", "M. Dupont arrive. C'est prêt ? Oui !", ["M. Dupont arrive.", "C'est prêt ?", "Oui !"]],
    ["fr", "Prends p.ex. du pain. Voilà.", ["Prends p.ex. du pain.", "Voilà."]],
    ["es", "¡Listo! ¿Algo más? El Sr. Ruiz llama.", ["¡Listo!", "¿Algo más?", "El Sr. Ruiz llama."]],
    ["es", "Son 2,5 kg aprox. por caja. Bien.", ["Son 2,5 kg aprox. por caja.", "Bien."]],
    ["pt", "Feito! O Dr. Silva liga às 9.30. Tudo bem?", ["Feito!", "O Dr. Silva liga às 9.30.", "Tudo bem?"]],
    ["pt-BR", "A Sra. Lima vem amanhã… ou não.", ["A Sra. Lima vem amanhã… ou não."]],
    ["ja", "はい。次は？", ["はい。", "次は？"]],
    ["en", " … \n ?", []],
  ];
  for (const [lang, text, sentences] of table) assert.deepEqual(cut(lang, text), sentences, `${lang}: ${text}`);
});

/** Numbers that are the same in every run. */
function randomly(seed) {
  let state = seed;
  return (below) => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0), Math.floor((state / 2 ** 32) * below));
}

test("however_a_text_comes_in_nothing_is_lost_said_twice_or_longer_than_a_browser_speaks", () => {
  const bits = ["Hello", " ", "world", ". ", "! ", "? ", "… ", "3.5", "Mr. ", ", ", "\n", "“", "”", "é", "🙂", "ok", "...", " a", "。", "x".repeat(70), "word ".repeat(60)];
  for (let seed = 1; seed <= 400; seed += 1) {
    const next = randomly(seed);
    const text = Array.from({ length: 1 + next(40) }, () => bits[next(bits.length)]).join("");
    const cutter = createCutter(["en", "de", "fr", "es", "pt"][next(5)]);
    const found = [];
    for (let at = 0; at < text.length; ) {
      const length = 1 + next(30);
      found.push(...cutter.push(text.slice(at, at + length)));
      at += length;
    }
    found.push(...cutter.flush());
    const letters = (all) => all.replace(/[^\p{L}\p{N}]/gu, "");
    assert.equal(letters(found.join("")), letters(text), `seed ${seed}`);
    assert.ok(found.every((sentence) => sentence.length <= MOST_CHARACTERS && /[\p{L}\p{N}]/u.test(sentence)), `seed ${seed}`);
    assert.deepEqual(cutter.flush(), [], "nothing is left");
  }
});

test("a_long_sentence_is_cut_behind_a_comma_or_between_words", () => {
  const long = `${"first part ".repeat(10).trim()}, ${"second part ".repeat(10).trim()}.`;
  assert.deepEqual(pieces(long).map((piece) => piece.slice(0, 6)), ["first ", "second"]);
  assert.ok(pieces("🙂".repeat(200)).every((piece) => piece.isWellFormed()));
});

test("what_is_written_for_the_eye_is_not_read_out", () => {
  const table = [
    ["**Done!** 🎉 You have _three_ tasks", "Done! You have three tasks"],
    ["- [ ] buy milk", "buy milk"],
    ["## Today", "Today"],
    ["See [the plan](https://a.example/x) or https://a.example/very?long=1.", "See the plan or a link."],
    ["Task #12 is `done`", "Task number 12 is done"],
    ["snake_case_name and 2 * 3", "snake_case_name and 2 3"],
    ["| a | b |", "a, b,"],
    ["👩‍👩‍👧 1️⃣ 🇵🇹", ""],
    ["It's 5 © fine", "It's 5 fine"],
  ];
  for (const [text, spoken] of table) assert.equal(speakable(text, said), spoken, text);
  assert.deepEqual(sentencesOf(`See https://a.example/${"x".repeat(400)} now.`, "en", said), ["See a link now."], "an address is cut when it is gone");
  assert.ok(sentencesOf("#1 ".repeat(100), "en", said).every((text) => text.length <= MOST_CHARACTERS));
  const speech = createSpeech("en", said);
  const parts = ["Here it is:\n``", "`js\nconst a = 1. Really.\n", "```\nDone", ". 🎉 Bye"];
  assert.deepEqual([...parts.flatMap((part) => speech.push(part)), ...speech.flush()], ["Here it is:", said.code, "Done.", "Bye"]);
});

test("the_pages_own_voice_is_no_answer_and_a_hum_says_nothing", () => {
  const spoken = "Should I create a task called ‘Buy milk’?";
  assert.ok(isEcho("create a task", spoken) && isEcho("Should I create a task called buy milk", spoken));
  for (const own of ["yes create a task", "milk buy", "go ahead", ""]) assert.equal(isEcho(own, spoken), false, own);
  for (const hum of ["", "…", "uhm", "Hmm, er", "ähm"]) assert.ok(isUnclear(hum), hum);
  for (const hum of HESITATIONS) assert.ok(isUnclear(`${hum}, ${hum.replace(/./gu, "$&$&$&")}`), hum);
  assert.ok(isUnclear("go a head", 0.2));
  for (const clear of [["yes"], ["go ahead", 0.9], ["no", 0]]) assert.equal(isUnclear(...clear), false, clear[0]);
});

test("a_person_is_heard_and_answered_in_their_own_language", () => {
  assert.deepEqual(TALKED.map((wanted) => tagOf({ wanted })), ["en-US", "de-DE", "fr-FR", "es-ES", "pt-BR"]);
  assert.deepEqual(TALKED.map((each) => said.talks[each]?.length > 0), [true, true, true, true, true], "each can be chosen");
  const known = ["de-AT", "en-GB", "es-MX"];
  assert.equal(tagOf({ known }), "de-AT", "a page whose language nobody chose says nothing of it");
  assert.equal(tagOf({ page: "en", known }), "en-GB");
  assert.equal(tagOf({ wanted: "es", page: "en", known }), "es-MX");
  assert.equal(tagOf({ wanted: "fr", known }), "fr-FR");
  assert.equal(tagOf({ page: "pt", known: ["pt-PT"] }), "pt-PT");
  assert.equal(tagOf({}), "en-US");
});

test("the_states_of_a_call_are_those_of_the_document", () => {
  const path = (...inputs) => inputs.reduce((state, input) => nextState(state, input) ?? state, "idle");
  assert.equal(path("call", "beat", "beat", "end"), "idle");
  assert.equal(path("call", "fail"), "error");
  assert.equal(path("call", "beat", "fail", "beat"), "error");
  assert.equal(nextState("idle", "beat"), undefined);
  assert.equal(sentenceOf({ state: "active", speaking: "Hi", isHeard: true }, said), said.youSpeak);
  assert.equal(sentenceOf({ state: "active", doing: "createTask" }, said), said.works);
  assert.equal(sentenceOf({ state: "active", doing: "createTask", speaking: "Done" }, said), said.speaks);
  assert.equal(sentenceOf({ state: "idle", ended: "Call ended" }, said), "Call ended");
  assert.equal(sentenceOf({ state: "idle", ended: "Call ended", elsewhere: { call: 2 } }, said), said.elsewhere);
});

test("whatever_comes_a_call_of_the_page_goes_the_ways_that_are_drawn", () => {
  const [, drawn] = readFileSync(new URL("../../docs/states.md", import.meta.url), "utf8").split("\nvoice_calls\n");
  const rows = [...drawn.split("```")[0].matchAll(/^ {2}(\w+) +(\w+) +→ (\w+)/gm)];
  // A call that broke is begun again or left; to the server that is another one.
  const ways = new Map([...rows.map(([, from, input, to]) => [`${from} ${input}`, to]), ["error call", "connecting"], ["error end", "idle"]]);
  assert.equal(ways.size, 9);
  const inputs = ["call", "beat", "end", "fail"];
  for (let seed = 1; seed <= 200; seed += 1) {
    const next = randomly(seed);
    let state = "idle";
    for (let step = 0; step < 40; step += 1) {
      const input = inputs[next(inputs.length)];
      const to = nextState(state, input);
      assert.equal(to, ways.get(`${state} ${input}`), `seed ${seed}: ${state} ${input}`);
      state = to ?? state;
    }
  }
});

/** A clock that goes when it is told to. */
export function handClock() {
  let now = 0;
  let count = 0;
  const timers = new Map();
  return {
    setTimeout: (work, ms) => (timers.set((count += 1), { at: now + ms, work }), count),
    clearTimeout: (id) => timers.delete(id),
    pass(ms) {
      const until = now + ms;
      for (;;) {
        const [id, due] = [...timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)[0] ?? [];
        if (!due) break;
        timers.delete(id);
        now = due.at;
        due.work();
      }
      now = until;
    },
  };
}

/** A recogniser of which the test is the person; `made` has all that were made. */
function recogniser() {
  const made = [];
  class Recognition {
    constructor() {
      made.push(this);
    }
    start() {
      this.isOn = true;
      this.onstart?.();
    }
    abort() {
      this.isOn = false;
      this.onend?.();
    }
  }
  return { Recognition, made };
}

function ears(more = {}) {
  const { Recognition, made } = recogniser();
  const clock = handClock();
  const told = [];
  const on = (name) => (...all) => told.push([name, ...all]);
  const own = createEars({ Recognition, lang: "en-US", clock, onStart: on("start"), onTranscript: on("heard"), onSound: () => undefined, onError: on("error"), ...more });
  return { own, made, clock, told };
}

test("a_recogniser_that_ends_is_started_again_with_growing_pauses_until_it_hears", () => {
  const { own, made, clock, told } = ears({ local: true });
  own.start();
  assert.deepEqual([made[0].continuous, made[0].interimResults, made[0].lang, made[0].processLocally], [true, true, "en-US", true]);
  for (const pause of [250, 500, 1000, 2000, 4000, 4000]) {
    const before = made.length;
    made.at(-1).onend();
    clock.pass(pause - 1);
    assert.equal(made.length, before, `not before ${pause} ms`);
    clock.pass(1);
    assert.equal(made.length, before + 1);
  }
  made.at(-1).onresult({ resultIndex: 0, results: [Object.assign([{ transcript: " hi ", confidence: 0.9 }], { isFinal: true })] });
  assert.deepEqual(told.at(-1), ["heard", { text: "hi", isFinal: true, confidence: 0.9 }]);
  made.at(-1).onend();
  clock.pass(250);
  assert.equal(made.length, 8, "it begins anew with the shortest pause");
  own.stop();
  clock.pass(60_000);
  assert.equal(made.length, 8);
});

test("silence_is_no_error_a_lost_network_is_told_once_and_a_refusal_ends_it", () => {
  const { own, made, clock, told } = ears();
  own.start();
  for (const error of ["no-speech", "aborted", "network", "network"]) made.at(-1).onerror({ error });
  assert.deepEqual(told.filter(([name]) => name === "error"), [["error", "network"]]);
  made.at(-1).onresult({ results: [Object.assign([{ transcript: "hi" }], { isFinal: false })] });
  made.at(-1).onerror({ error: "network" });
  assert.deepEqual(told.at(-1), ["error", "network"], "once it was heard again, the next one is another");
  for (const error of ["not-allowed", "service-not-allowed", "audio-capture"]) {
    const { own: other, made: all, clock: time, told: heard } = ears();
    other.start();
    all[0].onerror({ error });
    all[0].onend();
    time.pass(60_000);
    assert.deepEqual([all.length, heard.at(-1)], [1, ["error", error]]);
  }
  own.setMuted(true);
  clock.pass(60_000);
  assert.equal(made.length, 1);
  own.setMuted(false);
  assert.equal(made.length, 2);
});

test("the_page_knows_where_the_sound_goes", async () => {
  const of = (answer) => whereSoundGoes(class { static available = answer; }, "en-US");
  assert.equal(await of(async () => "available"), "device");
  assert.equal(await of(async () => "downloadable"), "downloadable");
  assert.equal(await of(async () => "unavailable"), "maker");
  assert.equal(await of(async () => Promise.reject(new TypeError("no"))), "maker");
  assert.equal(await of(undefined), "maker");
  assert.equal(await whereSoundGoes(undefined, "en-US"), "none");
});

/** A voice of a browser; `spoken` are the utterances. */
function mouth({ voices = [{ lang: "en-US", localService: true }], fails } = {}) {
  const spoken = [];
  const clock = handClock();
  const told = [];
  const synth = { canceled: 0, getVoices: () => voices, speak: (utterance) => (spoken.push(utterance), fails && utterance.onerror({ error: fails })), cancel: () => (synth.canceled += 1) };
  class Utterance {
    constructor(text) {
      this.text = text;
    }
  }
  const own = createSpeaker({ synth, Utterance, lang: "en-US", clock, onSay: (text, aloud) => told.push([text, aloud]), onQuiet: () => told.push("quiet") });
  return { own, spoken, told, clock, synth };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("sentences_are_spoken_one_by_one_and_an_interruption_drops_the_rest", async () => {
  const { own, spoken, told, synth } = mouth();
  for (const text of ["One.", "Two.", "Three."]) own.say(text);
  await settle();
  assert.deepEqual(spoken.map(({ text }) => text), ["One."]);
  spoken[0].onend();
  assert.deepEqual(told, [["One.", true], ["Two.", true]]);
  assert.deepEqual(own.stop(), ["Two.", "Three."]);
  spoken[1].onerror({ error: "interrupted" });
  assert.deepEqual([synth.canceled, spoken.length, own.isSpeaking()], [1, 2, false]);
  own.say("Four.");
  await settle();
  spoken[2].onend();
  assert.equal(told.at(-1), "quiet");
});

test("an_utterance_that_neither_ends_nor_fails_is_given_up", async () => {
  const { own, spoken, clock, synth, told } = mouth();
  own.say("One.");
  own.say("Two.");
  await settle();
  clock.pass(6000);
  spoken[0].onerror({ error: "canceled" });
  assert.deepEqual([spoken.length, synth.canceled, told], [1, 1, [["One.", true], ["One.", false]]], "it is shown for as long as it takes to read it");
  clock.pass(1000);
  assert.deepEqual(spoken.map(({ text }) => text), ["One.", "Two."]);
});

test("a_sentence_that_fails_is_shown_and_the_next_one_is_tried", async () => {
  const { own, spoken, clock, told } = mouth();
  own.say("One.");
  own.say("Two.");
  await settle();
  spoken[0].onerror({ error: "network" });
  spoken[0].onend();
  assert.deepEqual([spoken.length, told], [1, [["One.", true], ["One.", false]]]);
  clock.pass(1000);
  assert.deepEqual([spoken.length, told.at(-1)], [2, ["Two.", true]]);
  spoken[1].onerror({ error: "interrupted" });
  assert.equal(told.at(-1), "quiet", "an interruption is no failure");
});

test("no_sentence_is_begun_while_it_is_held", async () => {
  const { own, spoken, told } = mouth();
  own.say("One.");
  await settle();
  own.say("Two.");
  own.hold(true);
  spoken[0].onend();
  own.say("Three.");
  await settle();
  assert.deepEqual([spoken.length, own.isSpeaking(), told.includes("quiet")], [1, true, false]);
  own.hold(false);
  await settle();
  assert.deepEqual(spoken.map(({ text }) => text), ["One.", "Two."]);
});

test("without_a_voice_the_words_are_shown_and_the_call_goes_on", async () => {
  for (const made of [mouth({ voices: [] }), mouth({ fails: "synthesis-failed" })]) {
    made.own.say("One.");
    made.own.say("Two.");
    await settle();
    made.clock.pass(2000);
    await settle();
    made.clock.pass(10_000);
    assert.deepEqual(made.told.filter(([, aloud]) => aloud === false).map(([text]) => text), ["One.", "Two."]);
    assert.equal(made.told.at(-1), "quiet");
  }
});

test("a_voice_of_this_machine_and_of_the_country_comes_first", () => {
  const voices = [{ lang: "de_DE", localService: true }, { lang: "en-GB", localService: true }, { lang: "en-US", localService: false }];
  assert.equal(voiceFor(voices, "en-US"), voices[1], "it stays on this machine");
  assert.equal(voiceFor([...voices, { lang: "en-US", localService: true }], "en-US").lang, "en-US");
  assert.equal(voiceFor([voices[0], voices[2]], "en-GB"), voices[2]);
  assert.equal(voiceFor(voices, "en-IN"), voices[1]);
  assert.equal(voiceFor([], "en"), undefined);
});
