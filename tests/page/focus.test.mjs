// What comes in late takes the focus from nobody: a row that changes keeps what a person is at, and
// what changes places moves around them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { workedFrames } from "./support/worked.mjs";

const options = { skip, timeout: 120_000 };
let browser;

before(async () => {
  if (skip) return;
  browser = await startBrowser();
  await browser.size(1280, 900);
});
after(() => browser?.end());

/** Opens a conversation of these frames, and gives its server. */
async function open(t, frames) {
  const server = await serveTalk(frames);
  t.after(() => server.end());
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  return server;
}

/** Waits for what the selector names, gives it the focus, and remembers it. */
const focus = (selector) => browser.waitFor(`const node = [...document.querySelectorAll(arguments[0])].at(-1); node?.focus(); window.held = node; return node && document.activeElement === node`, selector);
const isHeld = () => browser.js(`return document.activeElement === window.held && window.held.isConnected`);

test("a_foot_keeps_the_focus_when_its_turn_is_tried_again_in_another_tab", options, async (t) => {
  const server = await open(t, turnFrames(1, "Hello?", "Hello."));
  await focus("l3-foot [data-testid=turn-branch]");
  const branch = { id: 7, title: "Again", profile: "builder", main: false, active_at: new Date().toISOString(), running: false, waiting: false, pinned: false, archived: false, from: { conversation: 1, seq: 1 } };
  server.world.api["/api/conversations"] = { conversations: [branch], next: null };
  server.world.api["/api/conversations/1"] = { id: 1, branches: [{ conversation: 7, seq: 1 }] };
  // The list is asked for again when something happens.
  for (const frame of turnFrames(2, "And now?", "Now too.")) server.record(frame);
  await browser.waitFor(`return document.querySelector("[data-testid=retried]") !== null && document.querySelectorAll("l3-foot button").length > 3`);
  assert.equal(await browser.js(`return document.querySelector("l3-foot").shownRow.retried`), 7, "the row of the foot is another one");
  assert.ok(await isHeld());
});

for (const [action, foot] of [["branch", "l3-foot [data-testid=turn-branch]"], ["retry", "l3-foot [data-testid=turn-retry]"], ["edit", "l3-user [data-testid=message-edit]"]]) {
  test(`who_goes_on_elsewhere_by_${action}_is_in_the_field_there`, options, async (t) => {
    const server = await open(t, turnFrames(1, "Hello?", "Hello."));
    server.world.api["POST /api/conversations"] = () => ({ conversation: 7 });
    server.world.api["/api/conversations/7/frames"] = { frames: [], before: null };
    await focus(foot);
    await browser.keys("\uE007");
    if (action === "edit") {
      await browser.waitFor(`return document.activeElement.dataset.testid === "edit-text"`);
      await browser.js(`document.querySelector("dialog [data-testid=confirm]").click()`);
    }
    await browser.waitFor(`return location.hash === "#chat/7" && document.querySelector("dialog") === null`);
    await frames(3);
    assert.ok(await browser.js(`return document.activeElement.matches("l3-composer textarea")`), await browser.js(`return document.activeElement.outerHTML.slice(0, 200)`));
  });
}

const isInField = () => browser.js(`return document.activeElement.matches("l3-composer textarea")`);
const canStop = () => browser.waitFor(`return document.querySelector("[data-testid=stop]")?.checkVisibility()`);
const hasStopped = () => browser.waitFor(`return !document.querySelector("[data-testid=stop]").checkVisibility()`);

test("who_stops_a_turn_with_the_mouse_is_in_the_field", options, async (t) => {
  const server = await open(t, turnFrames(1, "Write.", "").slice(0, 2));
  await canStop();
  const [x, y] = await browser.js(`const { left, top, width, height } = document.querySelector("[data-testid=stop]").getBoundingClientRect(); return [left + width / 2, top + height / 2]`);
  for (const type of ["mousePressed", "mouseReleased"]) await browser.cdp("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  await browser.waitFor(`return document.querySelector("[data-testid=stop]").disabled`);
  assert.ok(await isInField());
  server.record({ type: "turn", turn: 1, state: "aborted" });
  await hasStopped();
  assert.ok(await isInField());
});

test("who_is_at_stop_is_in_the_field_when_the_turn_is_stopped_in_another_tab", options, async (t) => {
  const server = await open(t, turnFrames(1, "Write.", "").slice(0, 2));
  await canStop();
  await focus("[data-testid=stop]");
  const here = await browser.shown();
  await browser.tab();
  server.record({ type: "turn", turn: 1, state: "aborted" });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await browser.close();
  await browser.show(here);
  await hasStopped();
  assert.ok(await isInField());
});

test("a_file_in_a_message_that_waits_its_turn_stays_open_and_keeps_the_focus", options, async (t) => {
  const fence = "\x60\x60\x60";
  const server = await open(t, [{ type: "turn", turn: 1, state: "queued", origin: "message", content: "Work." }, { type: "turn", turn: 1, state: "running" }]);
  server.record({ type: "turn", turn: 2, state: "queued", origin: "message", content: `Look.\n\n${fence}file "a.csv"\na,b\n1,2\n${fence}` });
  await browser.waitFor(`document.querySelector("l3-user[data-status=queued] .file summary")?.click(); return document.querySelector("l3-user .file[open] pre") !== null`);
  await focus("l3-user .file summary");
  server.record({ type: "turn", turn: 1, state: "completed" });
  for (const frame of turnFrames(2, "", "Seen.").slice(1)) server.record(frame);
  await browser.waitFor(`return [...document.querySelectorAll("l3-user [data-testid=message-edit]")].length === 2`);
  assert.ok(await isHeld());
  assert.ok(await browser.js(`return window.held.parentElement.open`));
});

test("the_inside_of_a_step_stays_as_it_is_when_its_turn_ends", options, async (t) => {
  const call = [
    { type: "tool_call", name: "execute_sql", arguments: { query: "SELECT x" }, call: 5, turn: 1 },
    { type: "tool_result", name: "execute_sql", result: "Error: no column x", said: "The SQL failed.", ok: false, call: 5, turn: 1, ms: 4 },
  ];
  const [queued, running] = turnFrames(1, "Look.", "");
  const server = await open(t, [queued, running, ...call]);
  await browser.waitFor(`const steps = document.querySelector("l3-steps > details"); const step = document.querySelector("l3-tool > details"); if (steps && step) steps.open = step.open = true; return document.querySelector("l3-tool .tool-more summary") !== null`);
  await focus("l3-tool .tool-more summary");
  server.record({ type: "error", turn: 1, content: "The model does not answer." });
  await browser.waitFor(`return document.querySelector("l3-tool[data-came=failed]") !== null`);
  assert.ok(await isHeld());
});

test("what_was_put_back_keeps_the_focus_of_the_button_that_did_it", options, async (t) => {
  const call = [
    { type: "tool_call", name: "execute_sql", arguments: { query: "DELETE FROM books" }, call: 5, turn: 1 },
    { type: "tool_result", name: "execute_sql", result: "[]", said: "3 rows were deleted.", ok: true, kept: 3, call: 5, turn: 1, ms: 4 },
  ];
  const server = await open(t, turnFrames(1, "Delete them.", "Done.", call));
  server.world.api["POST /api/calls/5/undo"] = () => {
    server.record({ type: "undone", call: 5, rows: 3, turn: 1 });
    return { rows: 3 };
  };
  await focus("[data-testid=tool-undo-button]");
  await browser.keys("\uE007");
  await browser.waitFor(`return document.querySelector("l3-undo") && !document.querySelector("[data-testid=tool-undo-button]")`);
  assert.ok(await browser.js(`return document.querySelector("l3-undo").contains(document.activeElement)`));
});

test("rows_that_change_places_move_around_the_one_with_the_focus", options, async (t) => {
  await open(t, []);
  const order = await browser.later(`
    const [done] = arguments;
    import(document.querySelector("script[src*='/s/']").src.replace("shell/early.js", "core/dom.js")).then(({ keyed }) => {
      const host = document.body.appendChild(document.createElement("div"));
      const show = (keys) => keyed(host, [...keys].map((key) => ({ key })), ({ key }) => Object.assign(document.createElement("button"), { textContent: key }));
      show("abcd");
      window.held = host.children[3];
      window.held.focus();
      const told = [];
      for (const keys of ["dabc", "bad", "xdyab", "d", "zd"]) {
        show(keys);
        told.push([host.textContent, document.activeElement === window.held]);
      }
      done(told);
    }, (error) => done(String(error)));`);
  assert.deepEqual(order, [["dabc", true], ["bad", true], ["xdyab", true], ["d", true], ["zd", true]]);
});

/** Lets `toggle` come when the test says so: a busy machine draws some frames before it. */
const HELD = `
  window.toggled = [];
  addEventListener("toggle", (event) => {
    if (!event.isTrusted) return;
    event.stopImmediatePropagation();
    window.toggled.push(event.target);
  }, true);`;
const frames = (count) => browser.later(`const [count, done] = arguments; const next = (left) => (left === 0 ? done() : requestAnimationFrame(() => next(left - 1))); next(count)`, count);
const isInSight = () => browser.js(`const { top, bottom } = document.activeElement.getBoundingClientRect(); return document.activeElement !== document.body && top >= 0 && bottom <= innerHeight`);

const WITH_ROWS = "l3-steps:has(l3-tool[data-tool=roman])";

/** Opens the steps of the first turn, with the focus on the step with rows; the conversation is at its end. */
async function toStep(t) {
  const server = await open(t, workedFrames());
  await focus(`${WITH_ROWS} > details > summary`);
  await browser.keys("\uE007");
  await focus(`${WITH_ROWS} l3-tool:first-child > details > summary`);
  await browser.waitFor(`const [scroller] = document.querySelectorAll(".scroller"); return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 60`);
  return server;
}

test("a_step_that_is_opened_stays_in_sight_although_its_inside_comes_late", options, async (t) => {
  const server = await toStep(t);
  await browser.js(HELD);
  await browser.keys("\uE007");
  await browser.waitFor(`return window.toggled.length === 1`);
  await frames(3);
  server.delta(3, "More is written.");
  await frames(3);
  await browser.js(`window.toggled[0].dispatchEvent(new Event("toggle"))`);
  await browser.waitFor(`return document.querySelector(".rows-table tbody tr") !== null`);
  await frames(3);
  assert.ok(await isInSight());
});

test("a_chart_that_comes_late_moves_nothing_that_was_pressed_and_what_is_written_at_the_end_is_followed", options, async (t) => {
  const server = await toStep(t);
  await browser.keys("\uE007");
  await focus("[data-testid=chart-open]");
  await browser.js(`const [scroller] = document.querySelectorAll(".scroller"); scroller.scrollTop = scroller.scrollHeight`);
  await frames(3);
  await focus("[data-testid=chart-open]");
  const place = () => browser.js(`return document.activeElement.getBoundingClientRect().top`);
  const before = await place();
  await browser.keys(" ");
  await browser.waitFor(`return document.querySelector(".chart-canvas canvas[role=img]") !== null`);
  await frames(3);
  assert.equal(await place(), before);
  await browser.keys(" ");
  await browser.waitFor(`return document.querySelector(".rows-chart-host").hidden`);
  const isAtEnd = `const [scroller] = document.querySelectorAll(".scroller"); return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 2`;
  await browser.waitFor(isAtEnd);
  for (const frame of turnFrames(3, "And now?", "Now too.\n\n".repeat(40))) server.record(frame);
  await browser.waitFor(`return document.querySelectorAll("l3-foot").length === 3`);
  await browser.waitFor(isAtEnd);
});
