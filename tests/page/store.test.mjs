// The store: who is told of what, and when.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createStore } = await load("core/store.js");

/** A store that counts its actions, and a screen of 60 frames a second that shows one when it is asked to. */
function counting() {
  const frames = [];
  globalThis.document = { hidden: false };
  globalThis.requestAnimationFrame = (callback) => frames.push(callback);
  const store = createStore({ initial: 0, reducer: (state) => state + 1 });
  const told = [];
  store.subscribe((state) => told.push(state));
  let now = 1e6;
  const frame = () => {
    now += 1000 / 60;
    for (const callback of frames.splice(0)) callback(now);
  };
  return { told, frame, text: () => store.dispatch({ type: "delta" }), more: () => store.dispatch({ type: "turn" }) };
}

test("what_comes_between_two_frames_is_told_once", () => {
  const { told, frame, more, text } = counting();
  more();
  text();
  more();
  assert.deepEqual(told, []);
  frame();
  assert.deepEqual(told, [3]);
  frame();
  assert.deepEqual(told, [3]);
});

test("text_that_is_written_is_told_in_each_second_frame_and_all_else_at_once", () => {
  const { told, frame, more, text } = counting();
  for (let at = 0; at < 3; at += 1) frame();
  text();
  frame();
  assert.deepEqual(told, [1], "the first piece waits for nothing");
  for (let at = 0; at < 60; at += 1) {
    text();
    text();
    frame();
  }
  assert.ok(told.length >= 30 && told.length <= 32, `${told.length} in a second`);
  frame();
  frame();
  assert.equal(told.at(-1), 121, "the last piece is told");
  text();
  frame();
  text();
  more();
  const before = told.length;
  frame();
  assert.deepEqual([told.length, told.at(-1)], [before + 1, 124], "a frame that is more than text is not held back");
  for (let at = 0; at < 4; at += 1) frame();
  assert.equal(told.length, before + 1, "nothing is told twice");
});
