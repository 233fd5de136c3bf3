// Measures the page with 2,000 messages and with an answer that streams:
// `node tests/page/bench.mjs [seconds of streaming] [part …]`, where a part is `first`, `history`,
// `wheel`, `turn`, `stream` or `empty`; without one all of them. On a quiet machine: the load
// average stands beside the table. Prints a table; the goals beside the figures are those of the
// issue. It is no test: what it measures depends on the machine.

import { loadavg } from "node:os";
import { longFrames, streamedPieces } from "./support/long.mjs";
import { pageOf, serveTalk } from "./support/talk.mjs";
import { startBrowser } from "./support/webdriver.mjs";

const SECONDS = Number(process.argv[2] ?? 50);
const PARTS = process.argv.slice(3);
const isWanted = (part) => PARTS.length === 0 || PARTS.includes(part);
const PIECES_A_SECOND = 100;
const LOADS = Number(process.env.LOADS ?? 10);
/** Pixels a second: a page in a tenth of a second, as a wheel that is spun. */
const WHEEL_SPEED = 8000;
const WHEEL_PIXELS = 24_000;

/** In the page, from its first script on: when the first row is there, how long frames take, and tasks that hold up the page. */
const WATCH = `
  window.measured = { frames: [], tasks: [] };
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => measured.tasks.push(duration))).observe({ type: "longtask", buffered: true });
  let last;
  const frame = (now) => {
    if (measured.first === undefined && document.querySelector(".rows > l3-assistant .markdown")?.textContent) measured.first = performance.now();
    if (last !== undefined) measured.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);`;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const sorted = (all) => [...all].sort((a, b) => a - b);
const at = (all, part) => sorted(all)[Math.min(all.length - 1, Math.floor(all.length * part))] ?? 0;
const ms = (value) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
const percent = (value) => `${(100 * value).toFixed(1)} %`;
const load = () => loadavg()[0].toFixed(1);
const lines = [];
const say = (what, goal, measured) => lines.push([what, goal, measured, load()]) && console.error(`${what}: ${measured} (${goal}), load ${load()}`);

let carried = 0;
const frames = ({ search }) => {
  const page = pageOf(server.world.frames, search);
  carried += JSON.stringify(page).length;
  return page;
};
const server = await serveTalk(longFrames(), { api: { "/api/conversations/1/frames": frames } });
const browser = await startBrowser();

/** Script, style and layout, and all of the main thread, in seconds since the start. */
async function used() {
  const { metrics } = await browser.cdp("Performance.getMetrics");
  const of = (name) => metrics.find((metric) => metric.name === name).value;
  return { work: of("ScriptDuration") + of("LayoutDuration") + of("RecalcStyleDuration"), all: of("TaskDuration"), time: of("Timestamp") };
}
const between = (a, b) => ({ work: b.work - a.work, all: b.all - a.all, time: b.time - a.time });
const fresh = () => browser.js(`measured.frames.length = measured.tasks.length = 0`);
const measured = () => browser.js(`return measured`);

async function open() {
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  await browser.waitFor(`return window.measured?.first`);
}

async function firstRows() {
  const all = [];
  const longest = [];
  for (let load = 0; load < LOADS; load += 1) {
    await open();
    await wait(1000);
    const { first, tasks } = await measured();
    all.push(first);
    longest.push(Math.max(0, ...tasks));
  }
  say("first rows, p50 of 10 loads", "≤ 300 ms", `${ms(at(all, 0.5))} (worst ${ms(Math.max(...all))})`);
  say("longest task of a load, p50", "–", ms(at(longest, 0.5)));
}

async function history() {
  carried = 0;
  const [before] = [server.world.frames.length];
  await fresh();
  for (;;) {
    const first = await browser.js(`const list = document.querySelector("l3-messages:not([hidden])"); list.scroller.scrollTop = 0; if (!list.earlier.hidden) list.earlier.click(); return list.earlier.hidden && list.list.firstElementChild.textContent.includes("Message 1.")`);
    if (first) break;
    await wait(50);
  }
  const newest = JSON.stringify(server.world.frames.slice(before - 400)).length;
  const whole = JSON.stringify(server.world.frames).length;
  const { tasks } = await measured();
  const rows = await browser.js(`return document.querySelectorAll("l3-messages:not([hidden]) .rows > *").length`);
  say("all of history, in its own bytes", "≤ 1.3", ((carried + newest) / whole).toFixed(2));
  say("longest task while it is read", "≤ 100 ms", ms(Math.max(0, ...tasks)));
  say("rows in the page then", "≤ 400", String(rows));
}

/** Turns the wheel from the end of `scroller`, an expression, to its beginning. */
async function wheelUp(scroller) {
  const gaps = [];
  const tasks = [];
  let moved = 0;
  for (let top = Infinity; top > 0; ) {
    await fresh();
    const before = await browser.js(`return ${scroller}.scrollTop`);
    await browser.cdp("Input.synthesizeScrollGesture", { x: 700, y: 400, yDistance: WHEEL_PIXELS, speed: WHEEL_SPEED, gestureSourceType: "mouse" });
    const found = await measured();
    top = await browser.js(`return ${scroller}.scrollTop`);
    moved += before - top;
    gaps.push(...found.frames.slice(2));
    tasks.push(...found.tasks);
    if (before === top) break;
  }
  return { gaps, tasks, moved, figures: `${ms(at(gaps, 0.5))}, ${ms(at(gaps, 0.95))} of ${gaps.length}` };
}

async function wheel() {
  const list = `document.querySelector("l3-messages:not([hidden])")`;
  await browser.js(`${list}.toEnd()`);
  await wait(500);
  const { tasks, moved, figures } = await wheelUp(`${list}.scroller`);
  say(`wheel through all of it (${Math.round(moved / 1000)},000 px), frame p50, p95`, "p95 ≤ 20 ms", figures);
  say("longest task of the wheel", "≤ 100 ms", ms(Math.max(0, ...tasks)));
  return moved;
}

/** The floor of the wheel: a page as high, of plain text and nothing else. */
async function wheelOverText(pixels) {
  await browser.go("about:blank");
  await browser.js(`
    for (let n = 0; document.scrollingElement.scrollHeight < arguments[0] && n < 40; n += 1)
      document.body.append(...Array.from({ length: 200 }, (_, k) => Object.assign(document.createElement("p"), { textContent: \`Paragraph \${n * 200 + k}. \`.repeat(24) })));
    document.scrollingElement.scrollTop = document.scrollingElement.scrollHeight`, pixels);
  await wait(1000);
  const { figures } = await wheelUp("document.scrollingElement");
  say("the same wheel over as much plain text", "–", figures);
}

async function shortTurn() {
  const all = [];
  const idle = [];
  for (let turn = 2001; turn < 2006; turn += 1) {
    await browser.js(`document.querySelector("l3-messages:not([hidden])").toEnd()`);
    await wait(1500);
    const still = await used();
    await wait(6 * 40 + 500);
    const before = await used();
    idle.push(between(still, before));
    server.record({ type: "turn", turn, state: "queued", origin: "message", content: "Short?" });
    server.record({ type: "turn", turn, state: "running" });
    for (const piece of ["It ", "is ", "short, ", "as ", "was ", "asked."]) {
      server.delta(turn, piece);
      await wait(40);
    }
    server.record({ type: "assistant", content: "It is short, as was asked.", turn, step: 1, final: true });
    server.record({ type: "turn", turn, state: "completed", usage: { requests: 1, input_tokens: 900, output_tokens: 8, cost_micros: null }, ms: 300 });
    await wait(500);
    all.push(between(before, await used()));
  }
  say("a short turn among them: script, style and layout, p50 of 5", "≤ 50 ms", ms(1000 * at(all.map(({ work }) => work), 0.5)));
  say("the same, all of the main thread", "≤ 50 ms", ms(1000 * at(all.map((each) => each.all), 0.5)));
  // The watch of this bench asks for each frame, which a page at rest does not: that is no cost of
  // a turn.
  say("as long in which nothing happens, all of the main thread", "–", ms(1000 * at(idle.map((each) => each.all), 0.5)));
}

async function stream(what) {
  const pieces = streamedPieces(SECONDS * PIECES_A_SECOND);
  const turn = server.world.frames.at(-1).turn + 1;
  server.record({ type: "turn", turn, state: "queued", origin: "message", content: "Long?" });
  server.record({ type: "turn", turn, state: "running" });
  await wait(500);
  await fresh();
  const parts = [];
  let before = await used();
  const start = performance.now();
  for (let sent = 0, part = 1; sent < pieces.length; ) {
    const due = Math.min(pieces.length, Math.floor(((performance.now() - start) * PIECES_A_SECOND) / 1000));
    for (; sent < due; sent += 1) server.delta(turn, pieces[sent]);
    if (sent >= (part * pieces.length) / 5) {
      const now = await used();
      parts.push(between(before, now));
      before = now;
      part += 1;
    }
    await wait(10);
  }
  const { tasks } = await measured();
  const share = ({ work, time }) => work / time;
  server.record({ type: "assistant", content: pieces.join(""), turn, step: 1, final: true });
  server.record({ type: "turn", turn, state: "completed", usage: { requests: 1, input_tokens: 900, output_tokens: pieces.length, cost_micros: null }, ms: 50_000 });
  await wait(1000);
  say(`${pieces.length} pieces at 100 a second ${what}: script, style and layout, by fifths`, "≤ 25 %, not rising", parts.map((each) => percent(share(each))).join(", "));
  say(`the same, all of the main thread`, "–", parts.map(({ all, time }) => percent(all / time)).join(", "));
  say(`longest task of it`, "≤ 50 ms", ms(Math.max(0, ...tasks)));
}

async function emptyConversation() {
  server.world.frames.length = 0;
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  await browser.waitFor(`return document.querySelector("[data-testid=connection][data-state=connected]") !== null`);
  server.record({ type: "turn", turn: 1, state: "queued", origin: "message", content: "First." });
  server.record({ type: "turn", turn: 1, state: "completed", ms: 1 });
  await stream("in an empty conversation");
}

try {
  await browser.size(1280, 900);
  await browser.cdp("Page.addScriptToEvaluateOnNewDocument", { source: WATCH });
  await browser.cdp("Performance.enable");
  if (isWanted("first")) await firstRows();
  await open();
  if (isWanted("history") || isWanted("wheel") || isWanted("turn")) await history();
  const wheeled = isWanted("wheel") ? await wheel() : 0;
  if (isWanted("turn")) await shortTurn();
  if (isWanted("stream")) await stream("after 2,000 messages");
  if (isWanted("empty")) await emptyConversation();
  if (wheeled > 0) await wheelOverText(wheeled);
} finally {
  await browser.end();
  server.end();
}
console.log("| What | Goal | Measured | Load |\n|---|---|---|---|");
for (const row of lines) console.log(`| ${row.join(" | ")} |`);
