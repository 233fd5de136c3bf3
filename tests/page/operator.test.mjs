// The place Operator: tasks with their states, the channel, and what it remembers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { operatorApi } from "../../static/core/api-operator.js";
import english from "../../static/words/en-operator.js";
import portuguese from "../../static/words/pt-operator.js";

test("each_question_of_the_place_has_its_address", async () => {
  const asked = [];
  const api = operatorApi(async (...all) => (asked.push(all), {}));
  await api.operator();
  await api.operatorContext();
  await api.setOperatorContext(3, { a: 1 });
  await api.operatorChannels();
  assert.deepEqual(asked, [
    ["GET", "/api/operator"],
    ["GET", "/api/operator/context"],
    ["PUT", "/api/operator/context", { version: 3, document: { a: 1 } }],
    ["GET", "/api/relay/channels"],
  ]);
});

test("both_languages_have_the_same_words", () => {
  const shape = (words) => JSON.stringify(words, (_, value) => (typeof value === "function" ? "f" : typeof value === "string" ? "s" : value));
  assert.equal(shape(english), shape(portuguese));
  assert.deepEqual(Object.keys(english.states), ["QUEUED", "RUNNING", "AWAITING_CONFIRMATION", "COMPLETED", "ABORTED"]);
});
