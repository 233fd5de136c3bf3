// The place Operator: tasks with their states, the course of one, the channel, and what it remembers.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { operatorApi } from "../../static/core/api-operator.js";
import english from "../../static/words/en-operator.js";
import { courseOf } from "../../static/operator/course.js";
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
    [12, "execute_script", 'name: double, arguments: {"n":2}', "high", "ask", "unknown"],
  ]);
  assert.deepEqual([steps[0].reasoning, steps[1].reasoning], ["First I look <img src=x onerror=alert(1)>", ""]);
  assert.deepEqual([steps[1].isRead, steps[1].asked.what, steps[1].decided.state], [false, ["Runs the script double."], "approved"]);
  assert.deepEqual(steps[1].operations, [{ state: "done", text: "kv set word" }]);
  assert.deepEqual([answer, end.state, media], ["Sent.", "completed", ["5a".repeat(32), "6b".repeat(32)]]);
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
    await browser.js(`document.querySelector("[data-testid=operator-tasks] [data-task='3']").click()`);
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
