// A piece of text that is written costs the same in a long conversation as in a short one: nobody
// walks through turns or items for it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";
import { longFrames } from "./support/long.mjs";
import { numbered } from "./support/talk.mjs";

const { activityMarks, initialWorkspace, mainState, reduceWorkspace, together, alive, waitingEverywhere } = await load("core/workspace.js");
const { openTurns } = await load("core/state-parts.js");
const { isBusy } = await load("core/state.js");
const { createLists } = await load("core/lists.js");
const { dockRows, newsOf } = await load("shell/live.js");
const { announcer } = await load("shell/announcer.js");
const { turnRows } = await load("chat/turns.js");
const { RowWindow } = await load("chat/row-window.js");

const HELLO = { type: "hello", version: "0", conversation: 1, conversations: { builder: 1 }, last_seq: 0, model: { kind: "local", provider: "p", name: "n" } };
const delta = (turn, content) => ({ type: "delta", conversation: 1, turn, step: 1, attempt: 1, content });

/** A workspace with so many turns, of which the last runs, and all that is told of each change. */
function conversation(turns) {
  const running = [
    { type: "turn", turn: turns + 1, state: "queued", origin: "message", content: "Go on." },
    { type: "turn", turn: turns + 1, state: "running" },
  ];
  const frames = numbered([...longFrames(turns), ...running]);
  const start = [HELLO, { type: "@connection", status: "connected", failures: 0, retryAt: null }, { type: "@history", conversation: 1, after: 0 }, { type: "@frames", conversation: 1, frames }];
  const lists = createLists({ api: { list: async () => [] }, dispatch: () => undefined, opened: () => true });
  const said = announcer({});
  const view = new RowWindow();
  let before;
  const tell = (workspace) => {
    const state = mainState(workspace);
    const rows = turnRows(state);
    view.change(rows, true);
    view.shown();
    isBusy(state);
    openTurns(state.turns);
    alive(workspace);
    waitingEverywhere(workspace);
    dockRows(workspace, true);
    before = newsOf(workspace, before);
    lists.changed({ ...together(workspace), activity: activityMarks(workspace) });
    said(state);
    return rows;
  };
  return { workspace: start.reduce(reduceWorkspace, initialWorkspace()), tell };
}

/** Counts how many entries of this map anybody walks over from now on. */
function watched(map) {
  const seen = { count: 0 };
  for (const name of ["entries", "values", "keys", Symbol.iterator]) {
    const walk = Map.prototype[name];
    Object.defineProperty(map, name, {
      value: function* counted() {
        for (const each of walk.call(map)) {
          seen.count += 1;
          yield each;
        }
      },
    });
  }
  return seen;
}

test("a_piece_of_text_walks_through_no_turn_and_no_item", () => {
  for (const turns of [10, 500]) {
    let { workspace, tell } = conversation(turns);
    workspace = reduceWorkspace(workspace, delta(turns + 1, "It "));
    tell(workspace);
    const { turns: all, items } = mainState(workspace);
    assert.ok(all.size === turns + 1 && items.size > 2 * turns);
    const walked = [watched(all), watched(items)];
    for (const piece of ["is ", "said."]) tell((workspace = reduceWorkspace(workspace, delta(turns + 1, piece))));
    assert.deepEqual(walked.map(({ count }) => count), [0, 0], `${turns} turns`);
    assert.equal(tell(workspace).at(-1).content, "It is said.");
    openTurns(new Map(all));
    assert.equal(walked[0].count, turns + 1, "a walk would be seen");
  }
});

test("what_is_recorded_makes_only_the_rows_of_its_turn_anew", () => {
  let { workspace, tell } = conversation(200);
  const before = tell(workspace);
  const answer = { type: "assistant", conversation: 1, seq: 100_000, turn: 201, step: 1, content: "Done.", final: true };
  const after = tell((workspace = reduceWorkspace(workspace, answer)));
  const fresh = after.filter((row) => !before.includes(row));
  assert.deepEqual(fresh.map(({ kind }) => kind), ["user", "assistant", "working"]);
});
