// Characters that text can hide are written out where it is approved; diffs are read line by line;
// Approve is armed only when all was in sight.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { countHidden, diffLines, plainVisible, visiblePieces } = await load("core/visible.js");
const { Arming, ARM_MS } = await load("ui/arming.js");
const { decisionLine, grantMarks, operationLine } = await load("core/format.js");
const { compactNumber, costText } = await load("core/numbers.js");
const { expiryLine } = await load("core/times.js");

test("characters_that_turn_or_hide_text_are_written_out", () => {
  for (const [hidden, mark] of [
    ["\u202e", "U+202E"],
    ["\u2066", "U+2066"],
    ["\u200f", "U+200F"],
    ["\u061c", "U+061C"],
    ["\u200b", "U+200B"],
    ["\u00ad", "U+00AD"],
    ["\ufeff", "U+FEFF"],
    ["\u3164", "U+3164"],
    ["\u2800", "U+2800"],
    ["\u2028", "U+2028"],
    ["\u0000", "U+0000"],
    ["\u001b", "U+001B"],
    ["\u0085", "U+0085"],
    ["\ud800", "U+D800"],
    ["\u{e0041}", "U+E0041"],
    ["\u{e0100}", "U+E0100"],
  ]) {
    assert.equal(plainVisible(`a${hidden}b`), `a⟨${mark}⟩b`);
    assert.equal(countHidden(`${hidden}x${hidden}`), 2, mark);
  }
  assert.equal(plainVisible("a\rb"), "a⟨U+000D⟩b", "a carriage return alone lets one line lie over another");
});

test("the_direction_marks_are_told_apart_from_the_merely_invisible", () => {
  const [, override, , space] = visiblePieces("a\u202eb\u200bc");
  assert.deepEqual([override.mark, override.turns, override.title], ["U+202E", true, "RIGHT-TO-LEFT OVERRIDE"]);
  assert.deepEqual([space.mark, space.turns], ["U+200B", false]);
});

test("text_of_every_script_stays_as_it_is", () => {
  for (const text of ["", "a\tb\nc\r\nd", "שלום", "żółć", "日本語", "👍️", "𝒜", "U+202E", "<b>&amp;"]) {
    assert.deepEqual(visiblePieces(text), [{ text }]);
    assert.equal(countHidden(text), 0);
  }
});

test("long_stretches_of_nothing_are_written_out_and_what_follows_keeps_its_place", () => {
  assert.equal(plainVisible(`a${" ".repeat(600)}steal()`), "a⟨600 spaces⟩steal()");
  assert.equal(plainVisible(`a${"\n".repeat(200)}    steal()`), "a⟨199 empty lines⟩\n    steal()");
  const ordinary = `a\n\n\n${" ".repeat(80)}b`;
  assert.equal(plainVisible(ordinary), ordinary);
});

test("a_megabyte_of_blanks_does_not_hold_up_the_page", { timeout: 60_000 }, () => {
  assert.equal(countHidden(`${" ".repeat(99)}x`.repeat(10_000)), 0);
  assert.equal(countHidden(`${"\n".repeat(19)}x`.repeat(50_000)), 0);
  assert.equal(countHidden(`\n${" ".repeat(1_000_000)}`), 1);
});

test("a_diff_is_read_line_by_line_and_code_that_looks_like_its_marks_is_code", () => {
  const code = "--- v1\n+++ v2\n@@ -1,3 +1,3 @@\n--- a comment\n+++counter;\n same\n\n\\ No newline at end of file\n";
  const diff = `${code}--- grants 1\n+++ grants 2\n@@ -2 +2 @@\n-{}\n+{"kv":{}}\n`;
  assert.deepEqual(
    diffLines(diff).map(({ kind, sign, text }) => [kind, sign, text]),
    [
      ["place", "", "--- v1"],
      ["place", "", "+++ v2"],
      ["place", "", "@@ -1,3 +1,3 @@"],
      ["remove", "−", "-- a comment"],
      ["add", "+", "++counter;"],
      ["same", "", "same"],
      ["same", "", ""],
      ["note", "", "\\ No newline at end of file"],
      ["place", "", "--- grants 1"],
      ["place", "", "+++ grants 2"],
      ["place", "", "@@ -2 +2 @@"],
      ["remove", "−", "{}"],
      ["add", "+", '{"kv":{}}'],
    ],
  );
  assert.deepEqual(diffLines(""), []);
});

function armed() {
  const timers = new Map();
  let next = 0;
  const clock = {
    setTimeout: (callback, pause) => (timers.set(++next, { callback, pause }), next),
    clearTimeout: (id) => timers.delete(id),
  };
  const arming = new Arming(() => {}, clock);
  const elapse = () => {
    const [[id, { callback, pause }]] = timers;
    timers.delete(id);
    assert.equal(pause, ARM_MS);
    callback();
  };
  return { arming, timers, elapse };
}

test("approve_works_only_after_the_beginning_was_seen_and_the_button_stood_in_sight_for_a_moment", () => {
  const { arming, timers, elapse } = armed();
  arming.buttonSeen(true);
  assert.deepEqual([arming.armed, arming.reason, timers.size], [false, "unread", 0]);
  arming.buttonSeen(false);
  arming.partSeen("beginning");
  assert.deepEqual([arming.reason, timers.size], ["soon", 0]);
  arming.buttonSeen(true);
  assert.equal(arming.armed, false);
  elapse();
  assert.deepEqual([arming.armed, arming.reason], [true, undefined]);
});

test("approve_stops_working_when_the_button_or_the_page_leaves_sight_and_when_the_window_comes_to_the_front", () => {
  const { arming, timers, elapse } = armed();
  arming.partSeen("beginning");
  for (const leave of [() => arming.buttonSeen(false), () => arming.pageSeen(false)]) {
    arming.buttonSeen(true);
    arming.pageSeen(true);
    elapse();
    assert.equal(arming.armed, true);
    leave();
    assert.deepEqual([arming.armed, timers.size], [false, 0]);
  }
  arming.pageSeen(true);
  elapse();
  arming.startOver();
  assert.equal(arming.armed, false);
  elapse();
  assert.equal(arming.armed, true);
  arming.stop();
  assert.deepEqual([arming.armed, timers.size], [false, 0]);
});

test("a_decision_is_told_with_how_it_came", () => {
  assert.equal(decisionLine({ state: "approved", channel: "page" }), "You approved this on the page");
  assert.match(
    decisionLine({ state: "denied", channel: "words", decidedAt: "2030-01-01T00:00:00Z" }),
    /by a word.*20(29|30)/,
  );
  assert.match(decisionLine({ state: "expired", channel: "clock" }), /Nobody answered in time/);
  assert.match(decisionLine({ state: "void", channel: "clock" }), /no longer counts/);
  assert.match(decisionLine({ state: "something new", channel: "pigeon" }), /something new/);
});

test("the_powers_that_reach_furthest_are_marked", () => {
  assert.deepEqual(grantMarks({ log: {}, kv: {} }), []);
  assert.deepEqual(
    grantMarks({
      http: { hosts: ["a.example", { host: "*.example.org" }] },
      secrets: { K: ["a.example"] },
      sql: { access: "write" },
      tools: { names: ["restart"] },
    }),
    ["Network: many hosts", "Your secrets", "Changes tables", "Calls other tools"],
  );
  assert.deepEqual(grantMarks({ http: { hosts: ["a.example"] }, sql: { access: "read" } }), [
    "Network",
    "Reads the database",
  ]);
  for (const odd of [null, undefined, "x", { http: null }, { http: { hosts: [null, 7] } }, { sql: null }])
    grantMarks(odd);
});

test("an_operation_is_one_line", () => {
  const line = (power, request) => operationLine({ power, request });
  assert.equal(
    line("http", { method: "GET", url: "https://x.example/", bytes: 0, sha256: "ab" }),
    "GET https://x.example/",
  );
  assert.equal(
    line("http", { method: "PUT", url: "https://x.example/", bytes: 12 }),
    "PUT https://x.example/ (12 bytes)",
  );
  assert.equal(line("sql", { sql: "SELECT $1", params: [1] }), "SELECT $1 [1]");
  assert.equal(line("sql", { sql: "SELECT 1", params: [] }), "SELECT 1");
  assert.equal(
    line("tools", { tool: "manage_tasks", arguments: { action: "list" } }),
    'manage_tasks {"action":"list"}',
  );
  assert.equal(line("mcp", { server: "far", tool: "add", definition: 1, sha256: "ab" }), "far add");
  assert.equal(line("kv", { set: "last", sha256: "ab" }), "set last");
  assert.equal(line("kv", { do: "delete", key: "k" }), "delete k");
  assert.ok(line("kv", { set: "x".repeat(10_000) }).length <= 200);
  for (const request of [null, undefined, "text", 7, [], {}])
    for (const power of ["http", "sql", "kv", "tools", "mcp", "new"]) assert.equal(typeof line(power, request), "string");
});

test("time_left_and_time_over_are_said_and_only_the_server_decides", () => {
  const now = Date.parse("2030-01-01T00:00:00Z");
  assert.match(expiryLine("2030-01-01T00:10:00Z", now), /refused in 10 min/);
  assert.match(expiryLine("2029-12-31T23:59:00Z", now), /any moment/);
  assert.equal(expiryLine("garbage", now), "");
});

test("what_is_not_known_to_cost_anything_is_unknown_and_not_free", () => {
  assert.equal(costText(null), "unknown");
  assert.equal(costText(undefined), "unknown");
  assert.equal(costText(0), "$0");
  assert.equal(costText(3), "< $0.0001");
  assert.equal(costText(12_345), "$0.0123");
  assert.equal(costText(1_234_567), "$1.23");
  assert.deepEqual([950, 34_120, 999_400, 999_600, 2_200_000].map(compactNumber), [
    "950",
    "34.1k",
    "999k",
    "1.0M",
    "2.2M",
  ]);
});
