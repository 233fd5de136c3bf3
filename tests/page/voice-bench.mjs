// Measures calls with Law in Chromium, against the program of LEVEL3_BIN, whose tour is a model
// that answers at once: `LEVEL3_BIN=… node tests/page/voice-bench.mjs [part…]`. Parts: `browser`
// (the browser's ears, put in), `own` (speech servers that answer at once, and a fake microphone),
// `real` (espeak-ng and Moonshine, if `scripts/peers` has brought them), `memory`, `bytes`. What
// was measured stands in `docs/voice.md`. It is no test: what it measures depends on the machine.

import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load as module } from "./load.mjs";
import { EARS, handsOf, permit } from "./support/voice.mjs";
import { startBrowser } from "./support/webdriver.mjs";

const { wavOf } = await module("voice/wav.js");
const PARTS = process.argv.slice(2);
const isWanted = (part) => PARTS.length === 0 || PARTS.includes(part);
const TIMES = Number(process.env.TIMES ?? 50);
const RATE = 48_000;
/** A person at the microphone speaks for so long, and is quiet for so long. */
const SPEAKS_S = 0.8;
const QUIET_S = 2.2;
/** So much quiet ends an utterance, as `static/voice/levels.js` has it. */
const ENDS_MS = 500;

const folder = mkdtempSync(join(tmpdir(), "level3-voice-"));
// As root, the program runs its Postgres under another account, which has to reach the folder.
chmodSync(folder, 0o755);
const ends = [];
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const at = (all, part) => [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * part))];
const spread = (all) => all.length === 0 ? "nothing in time" : `p50 ${at(all, 0.5).toFixed(0)} ms, p95 ${at(all, 0.95).toFixed(0)} ms, worst ${Math.max(...all).toFixed(0)} ms, of ${all.length}`;
const say = (what, measured) => console.log(`${what}: ${measured} (load ${loadavg()[0].toFixed(1)})`);

/** The program, with a folder of its own and these settings; its address. */
async function serves(settings = {}) {
  const own = join(folder, String(ends.length));
  mkdirSync(own);
  const ready = join(folder, `${ends.length}.ready`);
  const nobody = "http://127.0.0.1:9";
  const env = { PATH: process.env.PATH, HOME: own, LEVEL3_LISTEN: "127.0.0.1:0", LEVEL3_DATA_DIR: join(own, "data"), LEVEL3_READY_FILE: ready, OLLAMA_BASE_URL: nobody, LMSTUDIO_BASE_URL: nobody, LLAMACPP_BASE_URL: nobody, ...settings };
  const program = spawn(process.env.LEVEL3_BIN, ["serve"], { cwd: own, env, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  for (const output of [program.stdout, program.stderr]) output.on("data", (data) => (log += data));
  ends.push(() => new Promise((resolve) => (program.once("exit", resolve), program.kill("SIGTERM"))));
  for (let turn = 0; turn < 600 && !existsSync(ready) && program.exitCode === null; turn += 1) await wait(100);
  const [address] = log.match(/http:\/\/127\.0\.0\.1:\d+/) ?? [];
  if (!address) throw new Error(`the program did not start:\n${log}`);
  return `${address}/`;
}

/** Speech servers that answer at once: `said()` is what they hear, and Law's sentences are `seconds` of quiet. */
async function instantServers(said, seconds) {
  const sound = Buffer.from(wavOf([new Float32Array(16_000 * seconds)], 16_000));
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const hears = request.url === "/hears";
      response.writeHead(200, { "content-type": hears ? "application/json" : "audio/wav" }).end(hears ? JSON.stringify({ text: said() }) : sound);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(() => (server.closeAllConnections(), server.close()));
  const host = `http://127.0.0.1:${server.address().port}`;
  return { VOICE_STT_URL: `${host}/hears`, VOICE_TTS_URL: `${host}/speaks` };
}

/** A file of somebody who speaks again and again: many tones that swell and fade as syllables do, so that nothing takes it for noise. */
function speaker() {
  const samples = new Float32Array(RATE * (SPEAKS_S + QUIET_S));
  for (let index = 0; index < RATE * SPEAKS_S; index += 1) {
    const time = index / RATE;
    const pitch = 140 + 30 * Math.sin(time * 7);
    let tones = 0;
    for (let tone = 1; tone < 12; tone += 1) tones += Math.sin(time * pitch * tone * 2 * Math.PI) / tone;
    samples[index] = tones * (0.55 - 0.3 * Math.cos(time * 8 * Math.PI)) * 0.27;
  }
  return kept("speaker.wav", Buffer.from(wavOf([samples], RATE)));
}
const kept = (name, bytes) => (writeFileSync(join(folder, name), bytes), join(folder, name));
const microphone = (file) => ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", `--use-file-for-fake-audio-capture=${file}`];

/** In the page: the browser's own ears are put in, and each sentence is spoken in a moment, or not to its end if `slow`. */
const MOUTH = `
  ${EARS}
  window.spoken = [];
  window.silenced = [];
  window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  Object.defineProperty(window, "speechSynthesis", { value: {
    getVoices: () => [{ lang: "en-US", localService: true }],
    speak(utterance) { window.spoken.push(performance.now()); if (!window.slow) setTimeout(() => utterance.onend()); },
    cancel() { window.silenced.push(performance.now()); },
  } });`;

/** In the page: when an utterance is sent, when sound begins and ends, and when the microphone becomes loud. */
const WATCH = `
  window.sent = [];
  window.begun = [];
  window.stopped = [];
  window.loud = [];
  const { fetch } = window;
  window.fetch = (path, ...all) => (String(path).includes("transcriptions") && window.sent.push(performance.now()), fetch(path, ...all));
  const { start, stop } = AudioBufferSourceNode.prototype;
  AudioBufferSourceNode.prototype.start = function (...all) { window.begun.push(performance.now()); return start.apply(this, all); };
  AudioBufferSourceNode.prototype.stop = function (...all) { window.stopped.push(performance.now()); return stop.apply(this, all); };
  const Node = window.AudioWorkletNode;
  window.AudioWorkletNode = class extends Node {
    constructor(...all) {
      super(...all);
      let quiet = 0;
      // Frames of 20 ms: the one that is loud behind quiet ones began so long before it came.
      this.port.addEventListener("message", ({ data }) => {
        const level = Math.sqrt(data.reduce((sum, sample) => sum + sample * sample, 0) / data.length);
        if (level < 0.02) quiet += 1;
        else { if (quiet > 20) window.loud.push(performance.now() - 20); quiet = 0; }
      });
    }
  };`;

/** Opens the page at the picker and calls. */
async function calls(browser, address, put, isAsked) {
  const { says, press } = handsOf(() => browser);
  await permit(browser, new URL(address).origin, "granted");
  await browser.go(`${address}#assistant`);
  await browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=connected]") !== null`);
  await browser.js(put);
  await press("[data-testid=talk-law]");
  if (isAsked) await press("dialog[open] [data-testid=confirm]");
  await says("[data-testid=voice-state]", "Law ");
  return { says, press };
}
const hangUp = async ({ says, press }) => (await press("[data-testid=voice-end]"), await says("[data-testid=voice-state]", "Call ended"));
const list = (name) => (browser) => browser.js(`return window.${name}`);
const [spoken, silenced, sent, begun, stopped, loud] = ["spoken", "silenced", "sent", "begun", "stopped", "loud"].map(list);

async function browsersEars(address) {
  const browser = await startBrowser();
  try {
    const call = await calls(browser, address, MOUTH);
    const first = [];
    for (let time = 0; time < TIMES; time += 1) {
      const heard = await browser.js(`window.spoken.length = 0; const now = performance.now(); window.hear("list", true); return now`);
      await browser.waitFor(`return window.spoken.length > 0`);
      first.push((await spoken(browser))[0] - heard);
      await browser.waitFor(`return document.querySelector("[data-testid=voice-state]").textContent.includes("listens")`);
    }
    say("browser: final result → first sentence at the voice", spread(first));
    const fell = [];
    for (let time = 0; time < TIMES; time += 1) {
      await browser.js(`window.slow = true; window.spoken.length = 0; window.hear("list", true)`);
      await browser.waitFor(`return window.spoken.length > 0`);
      const heard = await browser.js(`window.silenced.length = 0; window.hear("wait", false); const now = performance.now(); window.hear("wait a", false); return now`);
      fell.push((await silenced(browser))[0] - heard);
      await browser.js(`window.hear("never mind", true); window.slow = false`);
      await browser.waitFor(`return document.querySelector("[data-testid=voice-state]").textContent.includes("listens")`);
    }
    say("browser: second word → silence", spread(fell));
    await hangUp(call);
  } finally {
    await browser.end();
  }
}

/** From the end of each utterance to the first sound of its answer. */
function answers(sentAt, begunAt) {
  const all = sentAt.map((time, index) => begunAt.find((begin) => begin > time && begin < (sentAt[index + 1] ?? Infinity)) - time + ENDS_MS);
  return all.filter(Number.isFinite);
}

/** Waits until it is so, but not for ever: a busy machine may lose some of what was said. */
async function until(isDone, most = 20 + 6 * TIMES) {
  for (let seconds = 0; seconds < most && !(await isDone()); seconds += 1) await wait(1000);
}

async function ownServers() {
  const address = await serves(await instantServers(() => "list", 60));
  const browser = await startBrowser(microphone(speaker()));
  try {
    const call = await calls(browser, address, WATCH, true);
    // Each sentence of the person's silences the answer to the one before it, which would last a
    // minute.
    await until(async () => (await stopped(browser)).length > TIMES);
    const [loudAt, stoppedAt] = [await loud(browser), await stopped(browser)];
    const fell = stoppedAt.map((time) => time - Math.max(...loudAt.filter((each) => each < time)));
    say("own servers that answer at once: end of speech → first sound", spread(answers(await sent(browser), await begun(browser)).slice(0, TIMES)));
    say("own servers: the person becomes loud → silence", spread(fell.slice(0, TIMES)));
    await hangUp(call);
  } finally {
    await browser.end();
  }
}

async function realServers() {
  const target = JSON.parse(spawnSync("cargo", ["metadata", "--locked", "--no-deps", "--format-version", "1"]).stdout).target_directory;
  const python = join(target, "peers/speech/bin/python");
  if (!existsSync(python)) {
    console.log("NOT RUN: real speech; `scripts/peers` brings what hears, and `espeak-ng` speaks");
    return;
  }
  const peer = spawn(python, [fileURLToPath(new URL("../peers/speech.py", import.meta.url))], { stdio: ["ignore", "pipe", "ignore"] });
  ends.push(() => peer.kill());
  const host = String(await new Promise((resolve) => peer.stdout.once("data", resolve))).trim();
  const address = await serves({ VOICE_STT_URL: `${host}/v1/audio/transcriptions`, VOICE_TTS_URL: `${host}/v1/audio/speech` });
  const { stdout } = spawnSync("espeak-ng", ["-v", "en-us", "-s", "145", "--stdout", "How much time is left?"]);
  // The head has 44 bytes. Behind the words it is quiet for twenty seconds.
  const rate = stdout.readUInt32LE(24);
  const file = Buffer.from(wavOf([Float32Array.from({ length: (stdout.length - 44) / 2 }, (_, index) => stdout.readInt16LE(44 + index * 2) / 32_768), new Float32Array(rate * 20)], rate));
  const browser = await startBrowser(microphone(kept("words.wav", file)));
  try {
    const call = await calls(browser, address, WATCH, true);
    const times = Math.min(10, TIMES);
    await until(async () => answers(await sent(browser), await begun(browser)).length >= times, 40 * times);
    say("espeak-ng and Moonshine: end of speech → first sound", spread(answers(await sent(browser), await begun(browser)).slice(0, times)));
    await hangUp(call);
  } finally {
    await browser.end();
  }
}

async function memory() {
  const address = await serves(await instantServers(() => "", 1));
  const silent = kept("silence.wav", Buffer.from(wavOf([new Float32Array(RATE)], RATE)));
  const browser = await startBrowser(microphone(silent));
  const heap = async () => {
    await browser.cdp("HeapProfiler.collectGarbage");
    const { usedSize } = await browser.cdp("Runtime.getHeapUsage");
    return usedSize / 1024;
  };
  try {
    await browser.cdp("HeapProfiler.enable");
    await permit(browser, new URL(address).origin, "granted");
    await browser.go(`${address}#assistant/law`);
    await browser.waitFor(`return document.querySelector("[data-testid=voice-call]")?.checkVisibility()`);
    await wait(3000);
    const before = await heap();
    await browser.js(`document.querySelector("[data-testid=voice-call]").click()`);
    await browser.waitFor(`return document.querySelector("dialog[open] [data-testid=confirm]") !== null`);
    await browser.js(`document.querySelector("dialog[open] [data-testid=confirm]").click()`);
    await handsOf(() => browser).says("[data-testid=voice-state]", "Law listens");
    await wait(3000);
    const begun = await heap();
    await wait(60_000);
    say("an idle call by own servers, script's heap in the page", `+${(begun - before).toFixed(0)} KB after 3 s, +${((await heap()) - before).toFixed(0)} KB after a minute, of ${before.toFixed(0)} KB`);
  } finally {
    await browser.end();
  }
}

async function bytes(address) {
  const browser = await startBrowser();
  const carried = (of = "") => browser.js(`return performance.getEntries().reduce((sum, { name, encodedBodySize = 0 }) => sum + (name.includes(arguments[0]) ? encodedBodySize : 0), 0) / 1024`, of);
  try {
    await browser.go(`${address}#chat`);
    await browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=connected]") !== null`);
    await wait(3000);
    const chat = await carried();
    await browser.js(`location.hash = "assistant"`);
    await handsOf(() => browser).sees("[data-testid=picker]");
    await wait(2000);
    const picker = await carried();
    await browser.js(MOUTH);
    const hands = handsOf(() => browser);
    await hands.press("[data-testid=talk-law]");
    await hands.says("[data-testid=voice-state]", "Law listens");
    await wait(1000);
    const called = await carried();
    const voice = (await carried("/voice/")) + (await carried("-voice.js"));
    await browser.js(`const folder = document.querySelector("script[src]").src.replace(/shell\\/.*/, ""); return import(folder + "vendor/daily-js-0.87.0.esm.js").then(() => true)`);
    await wait(500);
    say("bytes of the page", `Chat ${chat.toFixed(1)} KB, the picker +${(picker - chat).toFixed(1)}, a call +${(called - picker).toFixed(1)} (of the voice ${voice.toFixed(1)}), Daily for one by Vapi +${((await carried()) - called).toFixed(1)}`);
    await hangUp(hands);
  } finally {
    await browser.end();
  }
}

try {
  if (isWanted("browser") || isWanted("bytes")) {
    const address = await serves();
    if (isWanted("bytes")) await bytes(address);
    if (isWanted("browser")) await browsersEars(address);
  }
  if (isWanted("own")) await ownServers();
  if (isWanted("real")) await realServers();
  if (isWanted("memory")) await memory();
} finally {
  for (const end of ends.toReversed()) await end();
  rmSync(folder, { recursive: true, force: true });
}
