// The place Operator: tasks with their states, the course of one, the channel, and what it
// remembers.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { operatorApi } from "../../static/core/api-operator.js";
import { readJson } from "../../static/core/json.js";
import { qrRows } from "../../static/core/qr.js";
import { shortTime } from "../../static/core/times.js";
import english from "../../static/words/en-operator.js";
import { channelPart } from "../../static/operator/channel.js";
import { courseOf } from "../../static/operator/course.js";
import { memorySection } from "../../static/operator/memory.js";
import portuguese from "../../static/words/pt-operator.js";
import { courseEvents } from "./support/operator-world.mjs";
import { openScreen } from "./support/screens.mjs";
import { serveScreens } from "./support/screens-server.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { fullWorld } from "./support/worlds.mjs";

test("each_question_of_the_place_has_its_address", async () => {
  const asked = [];
  const api = operatorApi(async (...all) => (asked.push(all), {}));
  await api.operator();
  await api.operatorContext();
  await api.setOperatorContext(3, { a: 1 });
  await api.operatorChannels();
  await api.operatorCourse(3);
  await api.operatorRecordings("3/..");
  assert.deepEqual(asked, [
    ["GET", "/api/operator"],
    ["GET", "/api/operator/context"],
    ["PUT", "/api/operator/context", { version: 3, document: { a: 1 } }],
    ["GET", "/api/relay/channels"],
    ["GET", "/api/replay/turns/3"],
    ["GET", "/api/operator/tasks/3%2F../recordings"],
  ]);
  assert.equal(api.recordedPicture(3, 12, "before"), "/api/operator/tasks/3/recordings/12/before");
  assert.equal(api.operatorMedia("ab"), "/api/operator/media/ab");
});

test("both_languages_have_the_same_words", () => {
  const shape = (words) => JSON.stringify(words, (_, value) => (typeof value === "function" ? "f" : typeof value === "string" ? "s" : value));
  assert.equal(shape(english), shape(portuguese));
  assert.deepEqual(Object.keys(english.states), ["QUEUED", "RUNNING", "AWAITING_CONFIRMATION", "COMPLETED", "ABORTED"]);
});

const at = (ms) => new Date(Date.now() + ms).toISOString();

test("the_course_of_a_task_is_its_actions_with_verdicts_and_outcomes", () => {
  const { orders, steps, answer, media, end } = courseOf(courseEvents(at));
  assert.match(orders.join(), /^Show me the screen/);
  assert.deepEqual(steps.map(({ call, name, text, verdict, law, outcome }) => [call, name, text, verdict.risk, law, outcome.state]), [
    [11, "take_screenshot", "caption: Your screen.", "low", "allow", "done"],
    [12, "execute_script", 'name: double, arguments: {"n":2,"evil":"\u202egnp.exe"}', "high", "ask", "unknown"],
  ]);
  assert.deepEqual([steps[0].reasoning, steps[1].reasoning], ["First I look <img src=x onerror=alert(1)>", ""]);
  assert.deepEqual([steps[1].isRead, steps[1].asked.what, steps[1].decided.state], [false, ["Runs the script double."], "approved"]);
  assert.deepEqual(steps[1].operations, [{ state: "done", text: "kv set word" }]);
  assert.deepEqual([answer, end.state, media], ["Sent.", "completed", ["5a".repeat(32), "6b".repeat(32)]]);
});

test("behind_the_answer_stands_the_note_of_the_controller", () => {
  const answered = { kind: "step_answered", step: 1, content: "I cannot.", last: true };
  assert.equal(courseOf([{ ...answered, note: "No action was taken." }]).answer, "I cannot.\n\nNo action was taken.");
  assert.equal(courseOf([answered]).answer, "I cannot.");
});

test("a_course_that_is_cut_off_or_junk_is_shown_as_far_as_it_goes", () => {
  assert.deepEqual(courseOf([]).steps, []);
  const events = courseEvents(at);
  for (let cut = 0; cut < events.length; cut += 1) {
    const { steps } = courseOf(events.slice(0, cut));
    assert.ok(steps.length <= 2);
    // An outcome without its proposal, such as of an older page of events, is nobody's.
    assert.doesNotThrow(() => courseOf(events.slice(cut)));
  }
  const [step] = courseOf([{ kind: "tool_call_proposed", step: 1, call: 1, request: { name: "n", arguments: "{oops" } }]).steps;
  assert.equal(step.text, "{oops");
});

/** As much of a document as the section of the global context takes. */
const paper = () => ({
  createElement: (tag) => {
    const [children, listeners, attributes] = [[], {}, {}];
    return {
      tag, children, attributes, hidden: false, textContent: "", value: "",
      append: (...more) => children.push(...more),
      replaceChildren: (...more) => children.splice(0, children.length, ...more),
      addEventListener: (kind, listener) => (listeners[kind] = listener),
      setAttribute(name, value) {
        attributes[name] = value;
        if (name === "hidden") this.hidden = true;
      },
      removeAttribute: (name) => delete attributes[name],
      getAttribute: (name) => attributes[name] ?? null,
      click: () => listeners.click(),
      type: (kind) => listeners[kind](),
    };
  },
});

test("a_draft_of_the_global_context_stays_when_a_newer_version_overtakes_it", async () => {
  globalThis.document = paper();
  try {
    let kept = { version: 1, document: { a: "one" }, bytes: 11, most_bytes: 8192 };
    const api = {
      operatorContext: async () => kept,
      setOperatorContext: async (version, document) => {
        if (version !== kept.version) throw Object.assign(new Error("overtaken"), { status: 409 });
        return (kept = { ...kept, version: version + 1, document });
      },
    };
    const said = [];
    const section = memorySection({ api, signal: new AbortController().signal, announce: (text) => said.push(text), tell: assert.fail });
    const all = (node) => [node, ...(node.children ?? []).flatMap(all)];
    const find = (id) => all(section.node).find((node) => node.attributes?.["data-testid"] === id);
    const [text, newer, save] = ["operator-memory", "operator-newer", "operator-save"].map(find);
    const wrong = () => all(section.node).find((node) => node.attributes?.role === "alert").children.join("");
    const saved = async () => (save.click(), await new Promise(setImmediate));
    await section.load();
    text.value = '{"a": "mine"}';
    kept = { ...kept, version: 2, document: { a: "theirs" } };
    await section.load();
    assert.deepEqual([text.value, newer.hidden], ['{"a": "mine"}', true]);
    await saved();
    assert.deepEqual([text.value, newer.hidden, wrong()], ['{"a": "mine"}', false, english.newer]);
    assert.equal(newer.children.map((child) => child.textContent).join(" "), 'Version 2 {\n  "a": "theirs"\n}');
    await section.load();
    assert.deepEqual([text.value, newer.hidden], ['{"a": "mine"}', false], "a later look changes neither");
    await saved();
    assert.deepEqual([kept.version, kept.document, newer.hidden, wrong(), said.length], [3, { a: "mine" }, true, "", 1]);
  } finally {
    delete globalThis.document;
  }
});

test("numbers_of_the_global_context_that_nobody_touched_are_saved_as_they_were", async () => {
  globalThis.document = paper();
  try {
    const written = '{\n  "account": 9007199254740993,\n  "share": 1.0,\n  "note": "x"\n}';
    const sent = [];
    const api = {
      operatorContext: async () => readJson(`{"version":1,"document":${written},"bytes":11,"most_bytes":8192}`),
      setOperatorContext: async (version, document) => (sent.push(JSON.stringify(document)), { version: 2, document, bytes: 11, most_bytes: 8192 }),
    };
    const section = memorySection({ api, signal: new AbortController().signal, announce() {}, tell: assert.fail });
    const all = (node) => [node, ...(node.children ?? []).flatMap(all)];
    const [text, save] = ["operator-memory", "operator-save"].map((id) => all(section.node).find((node) => node.attributes?.["data-testid"] === id));
    await section.load();
    assert.equal(text.value, written);
    text.value = text.value.replace('"x"', '"xy"');
    save.click();
    await new Promise(setImmediate);
    assert.deepEqual(sent, ['{"account":9007199254740993,"share":1.0,"note":"xy"}']);
  } finally {
    delete globalThis.document;
  }
});

test("a_global_context_that_would_be_kept_otherwise_than_it_is_written_is_refused", async () => {
  globalThis.document = paper();
  try {
    const sent = [];
    const kept = { version: 1, document: {}, bytes: 2, most_bytes: 8192 };
    const api = { operatorContext: async () => kept, setOperatorContext: async (version, document) => (sent.push(JSON.stringify(document)), kept) };
    const section = memorySection({ api, signal: new AbortController().signal, announce() {}, tell: assert.fail });
    const all = (node) => [node, ...(node.children ?? []).flatMap(all)];
    const [text, save] = ["operator-memory", "operator-save"].map((id) => all(section.node).find((node) => node.attributes?.["data-testid"] === id));
    await section.load();
    const saved = async (written) => {
      text.value = written;
      save.click();
      await new Promise(setImmediate);
      return all(section.node).find((node) => node.attributes?.role === "alert").children.join("");
    };
    const big = "12345678901234567890123";
    assert.equal(await saved(`{"n":${big}}`), english.lost(big));
    assert.equal(await saved('{"share":0.12345678901234567891}'), english.lost("0.12345678901234567891"));
    assert.equal(await saved('{"a":1,"b":[{"a":1,"a":2}]}'), english.twice);
    assert.deepEqual(sent, []);
    const fine = `{"a":"x: \\"y\\": ${big}","b":{"a":18446744073709551615,"c":[1.10,-0.0,1e3,null]}}`;
    assert.equal(await saved(fine), "");
    assert.deepEqual(sent, [fine]);
  } finally {
    delete globalThis.document;
  }
});

test("a_draft_of_the_global_context_comes_back_until_it_is_saved_also_when_it_was_overtaken_meanwhile", async () => {
  globalThis.document = paper();
  try {
    const held = new Map();
    const storage = { getItem: (key) => held.get(key) ?? null, setItem: (key, value) => held.set(key, value), removeItem: (key) => held.delete(key) };
    let kept = { version: 1, document: { a: "one" }, bytes: 11, most_bytes: 8192 };
    const api = { operatorContext: async () => kept, setOperatorContext: async (version, document) => (kept = { ...kept, version: version + 1, document }) };
    const arrive = async () => {
      const section = memorySection({ api, storage, signal: new AbortController().signal, announce() {}, tell: assert.fail });
      const all = (node) => [node, ...(node.children ?? []).flatMap(all)];
      const find = (id) => all(section.node).find((node) => node.attributes?.["data-testid"] === id);
      await section.load();
      const text = find("operator-memory");
      const type = (value) => ((text.value = value), text.type("input"));
      return { text, type, newer: find("operator-newer"), saved: async () => (find("operator-save").click(), await new Promise(setImmediate)) };
    };
    const first = await arrive();
    const document = first.text.value;
    first.type('{"a": "mine"}');
    const second = await arrive();
    assert.deepEqual([second.text.value, second.newer.hidden], ['{"a": "mine"}', true]);
    kept = { ...kept, version: 2, document: { a: "theirs" } };
    const third = await arrive();
    assert.deepEqual([third.text.value, third.newer.hidden], ['{"a": "mine"}', false], "what overtook it stands above");
    await third.saved();
    assert.deepEqual([kept.version, kept.document, held.size], [3, { a: "mine" }, 0]);
    const fourth = await arrive();
    fourth.type("x");
    assert.equal(held.size, 1);
    fourth.type(document.replace("one", "mine"));
    assert.equal(held.size, 0, "what is as it was is no draft");
  } finally {
    delete globalThis.document;
  }
});

test("a_ban_is_shown_with_its_end", async () => {
  globalThis.document = paper();
  try {
    const text = (node) => (typeof node === "string" ? node : node.children.map(text).join(""));
    const { node, put } = channelPart();
    const locked = { name: "whatsapp", state: "locked", reason: "402: a ban", until: "2026-12-01T08:00:00Z" };
    await put({ channel: "whatsapp", numbers: 1 }, [locked]);
    assert.deepEqual(node.children.slice(1).map(text), ["402: a ban", english.until(shortTime(locked.until))]);
    const later = "2026-12-02T08:00:00Z";
    await put({ channel: "whatsapp", numbers: 1 }, [{ ...locked, until: later }]);
    assert.equal(text(node.children[2]), english.until(shortTime(later)), "another end is shown at once");
    await put({ channel: "whatsapp", numbers: 1 }, [{ name: "whatsapp", state: "online" }]);
    assert.equal(node.children.length, 1);
  } finally {
    delete globalThis.document;
  }
});

let browser;
before(async () => {
  if (!skip) browser = await startBrowser();
});
after(async () => browser?.end());

test("a_task_shows_its_plan_media_and_recordings_beside_the_others", { skip }, async () => {
  const server = await serveScreens(fullWorld(Date.now()));
  const see = (css, text) => browser.waitFor(`const node = document.querySelector(arguments[0]); return node?.checkVisibility() && node.innerText.includes(arguments[1])`, css, text);
  try {
    await browser.size(1440, 900);
    await openScreen(browser, server.address, { hash: "#operator", steps: [] });
    await see("[data-testid=operator-tasks]", "Show me the screen");
    await see("[data-testid=operator-undelivered]", "The question may not have arrived: the program of the channel ended. Decide here");
    await see("[data-testid=operator-tasks]", "There is one: doubleU+202E.");
    await see("[data-testid=operator-unproven]", english.unproven);
    await browser.js(`document.querySelector("[data-testid=operator-tasks] [data-task='3']").click()`);
    await see("[data-testid=operator-steps]", "U+202Egnp.exe");
    await see("[data-testid=operator-steps]", "First I look <img src=x onerror=alert(1)>");
    assert.equal(await browser.js("return location.hash"), "#operator/3");
    await see("[data-testid=operator-steps]", "complexity low, risk low, impact local");
    await see("[data-testid=operator-steps]", "it gave no answer that could be read, so the strictest counts");
    await see("[data-testid=operator-steps]", "Confirmed, by you, on this page");
    await see("[data-testid=operator-steps] [data-state=unknown]", "Unknown");
    await browser.js(`document.querySelector("[data-testid=operator-recording] summary").click()`);
    await see("[data-testid=operator-recording]", "doubled <b>");
    await browser.js(`for (const image of document.querySelectorAll(".operator-course img")) image.loading = "eager"`);
    // Two pictures around the action, and one that came; the file that is no picture is named.
    await browser.waitFor(`return document.querySelectorAll(".operator-course img").length === 3 && [...document.querySelectorAll(".operator-course img")].every((image) => image.naturalWidth === 1)`);
    await see("[data-testid=operator-media]", "File 6b6b6b6b, which is no picture");
    await browser.js(`document.querySelector(".details-close").click()`);
    await browser.waitFor(`return document.querySelector("[data-testid=operator-course]") === null && location.hash === "#operator"`);
    assert.equal(await browser.js(`return document.activeElement.dataset.task`), "3", "the focus is where it was");
    await browser.js(`document.querySelector("[data-testid=operator-tasks] [data-task='3']").click()`);
    await see("[data-testid=operator-steps]", "take_screenshot");
    await browser.js(`location.hash = "#operator/1"`);
    await see("[data-testid=operator-course] .error-state", "Task 1 could not be opened.");
    const errors = (await browser.errors()).filter((text) => !text.includes("Failed to load resource"));
    assert.deepEqual(errors, []);
  } finally {
    server.end();
  }
});

test("a_task_that_waits_is_confirmed_and_cancelled_in_its_place", { skip, timeout: 120_000 }, async () => {
  const world = fullWorld(Date.now());
  const decisions = [];
  let decided;
  const asked = (id, what) => ({ id, conversation: 31, turn: 4, call: id, state: "pending", shown: { tool: "execute_script", arguments: { name: "triple" }, what: [what], why: "complexity is high", can_always: false, words: { approve: ["CONFIRMAR"], deny: ["CANCELAR"] } }, expires_at: new Date(Date.now() + 600_000).toISOString() });
  world.api["/api/approvals"] = { approvals: [asked(9, "Runs the script triple."), asked(10, "Runs the script delete.")] };
  world.heard = (frame) => ["approve", "deny"].includes(frame.type) && decided(decisions.push(frame));
  const server = await serveScreens(world);
  const waits = "[data-testid=operator-waits]";
  const armed = (text) => browser.waitFor(`const card = document.querySelector(arguments[0] + " l3-approval"); return card?.dataset.armed === "true" && card.innerText.includes(arguments[1])`, waits, text);
  const press = async (button) => {
    const heard = new Promise((resolve) => (decided = resolve));
    await browser.js(`document.querySelector(arguments[0]).click()`, `${waits} [data-testid=${button}]`);
    await heard;
  };
  try {
    await browser.size(1440, 900);
    await openScreen(browser, server.address, { hash: "#operator", steps: [] });
    await browser.waitFor(`return document.querySelector("[data-testid=operator-tasks] [data-task='4']") !== null`);
    // The question of another conversation waits, and not here.
    assert.equal(await browser.js(`return document.querySelectorAll(arguments[0] + " l3-approval").length`, waits), 0);
    server.say({ type: "waiting", approvals: [9] });
    await armed("Runs the script triple.");
    assert.match(await browser.js(`return document.querySelector(arguments[0]).innerText`, waits), /complexity is high/);
    await press("approval-approve");
    server.say({ type: "waiting", approvals: [10] });
    await armed("Runs the script delete.");
    await press("approval-deny");
    server.say({ type: "waiting", approvals: [] });
    await browser.waitFor(`return document.querySelector(arguments[0]).children.length === 0`, waits);
    assert.deepEqual(decisions, [{ type: "approve", approval: 9, always: false }, { type: "deny", approval: 10 }]);
    assert.deepEqual(await browser.errors(), []);
  } finally {
    server.end();
  }
});

test("the_code_to_scan_is_drawn_until_the_channel_is_online", { skip }, async () => {
  const world = fullWorld(Date.now());
  const text = `2@${"A1b/".repeat(50)}==`;
  const channel = { name: "whatsapp", kind: "program", state: "needs_scan", qr: text };
  world.api["/api/operator"] = { ...world.api["/api/operator"], channel: "whatsapp" };
  world.api["/api/relay/channels"] = () => ({ channels: [channel] });
  const server = await serveScreens(world);
  try {
    await browser.size(1440, 900);
    await openScreen(browser, server.address, { hash: "#operator", steps: [] });
    const drawn = await browser.waitFor(`
      const svg = document.querySelector("[data-testid=operator-channel] svg");
      const { width, height } = svg?.getBoundingClientRect() ?? {};
      return svg && { box: svg.getAttribute("viewBox"), path: svg.querySelector("path").getAttribute("d"), label: svg.getAttribute("aria-label"), isSquare: width > 100 && width === height }`);
    const rows = qrRows(text);
    const dark = rows.flat().filter(Boolean).length;
    // A scanner needs four modules of margin on each side.
    assert.equal(drawn.box, `-4 -4 ${rows.length + 8} ${rows.length + 8}`);
    assert.deepEqual([drawn.path.match(/M/g).length, drawn.label, drawn.isSquare], [dark, english.qr, true]);
    Object.assign(channel, { state: "online", qr: null, address: "+491711111111" });
    await browser.waitFor(`const node = document.querySelector("[data-testid=operator-channel]"); return node.querySelector("[data-state=online]") !== null && node.querySelector("svg") === null`);
    assert.deepEqual(await browser.errors(), []);
  } finally {
    server.end();
  }
});
