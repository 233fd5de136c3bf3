// Older frames by pages: each is asked for once, in the right place, and one that cannot be had is
// said.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createEarlier } = await load("chat/earlier.js");
const { createStore } = await load("core/store.js");
const { taskLists } = await load("core/entries.js");

const said = (seq) => ({ type: "turn", turn: seq, state: "queued", origin: "message", content: `m${seq}`, conversation: 1, seq });

function setUp(pages) {
  const store = createStore({ schedule: (tell) => tell() });
  store.dispatch({ type: "hello", conversation: 1, conversations: {}, last_seq: 700, model: {}, version: "1" });
  store.dispatch({ type: "@history", after: 300 });
  const asked = [];
  const api = {
    frames: async (conversation, before) => {
      asked.push([conversation, before]);
      const page = pages.shift();
      if (page instanceof Error) throw page;
      return page;
    },
  };
  return { store, asked, earlier: createEarlier({ api, getState: store.getState, dispatch: store.dispatch }) };
}

test("pages_go_down_to_the_first_frame_and_none_is_asked_for_twice", async () => {
  const { store, asked, earlier } = setUp([
    { frames: [said(250), said(299)], before: 240 },
    { frames: [said(1), said(200)], before: null },
  ]);
  await Promise.all([earlier(), earlier()]);
  assert.equal(store.getState().historyAfter, 239);
  await earlier();
  await earlier();
  assert.deepEqual(asked, [
    [1, 301],
    [1, 240],
  ]);
  assert.equal(store.getState().historyAfter, 0);
  assert.deepEqual(
    [...store.getState().items.values()].map((item) => item.content).sort(),
    ["m1", "m200", "m250", "m299"],
  );
});

test("a_page_that_cannot_be_had_is_said_and_can_be_asked_for_again", async () => {
  const { store, asked, earlier } = setUp([new Error("The server cannot be reached."), { frames: [], before: null }]);
  await earlier();
  assert.match(store.getState().notices[0].content, /Earlier messages could not be loaded. The server cannot be reached./);
  assert.equal(store.getState().historyAfter, 300);
  await earlier();
  assert.equal(asked.length, 2);
  assert.equal(store.getState().historyAfter, 0);
});

test("tasks_come_from_the_server_and_a_newer_frame_stays", () => {
  const { store } = setUp([]);
  const task = (id, title, updated_at) => ({ id, title, status: "pending", due_at: null, updated_at });
  const frame = { type: "task", conversation: 1, seq: 650, deleted: false, task: task(2, "renamed", "2026-01-02T00:00:00Z") };
  store.dispatch(frame);
  store.dispatch({
    type: "@list",
    kind: "tasks",
    entries: [task(1, "older than every frame", "2026-01-01T00:00:00Z"), task(2, "before", "2026-01-01T00:00:00Z")],
  });
  assert.deepEqual(
    taskLists(store.getState()).open.map(({ title }) => title),
    ["older than every frame", "renamed"],
  );
  store.dispatch({ ...frame, seq: 651, deleted: true });
  assert.deepEqual(
    taskLists(store.getState()).open.map(({ id }) => id),
    [1],
  );
});
