// Drafts: kept for each conversation, never thrown away.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createDrafts, joined } = await load("chat/draft.js");

function storage() {
  const kept = new Map();
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
}

test("a_draft_is_there_again_after_a_reload_before_the_server_has_said_anything", () => {
  const tab = storage();
  const drafts = createDrafts(tab);
  assert.equal(drafts.opened(1, ""), "");
  drafts.keep("half a thou");
  assert.equal(createDrafts(tab).text(), "half a thou");
});

test("what_is_written_before_the_first_greeting_goes_to_the_conversation_that_opens", () => {
  const tab = storage();
  const drafts = createDrafts(tab);
  drafts.keep("early");
  assert.equal(drafts.opened(1, "early"), "early");
  assert.equal(createDrafts(tab).text(), "early");
  assert.deepEqual([...tab.kept.keys()].sort(), ["level3.conversation", "level3.draft.1"]);
});

test("the_greeting_after_a_reconnect_leaves_the_field_as_it_is", () => {
  const drafts = createDrafts(storage());
  drafts.opened(1, "");
  drafts.keep("half");
  assert.equal(drafts.opened(1, "half a thought"), "half a thought");
});

test("each_conversation_has_its_own_and_going_to_and_fro_loses_none", () => {
  const drafts = createDrafts(storage());
  drafts.opened(1, "");
  drafts.keep("for one");
  assert.equal(drafts.opened(2, "for one"), "");
  drafts.keep("for two");
  assert.equal(drafts.opened(1, "for two"), "for one");
  assert.equal(drafts.opened(2, "for one"), "for two");
});

const image = (data) => ({ media_type: "image/png", data, size: 3, name: "" });

test("images_stay_with_the_conversation_they_were_added_in", () => {
  const tab = storage();
  const drafts = createDrafts(tab);
  drafts.keepImages([image("AAAA")]);
  drafts.opened(1, "");
  assert.deepEqual(drafts.images(), [image("AAAA")], "those added before the greeting, too");
  drafts.opened(2, "");
  assert.deepEqual(drafts.images(), []);
  drafts.keepImages([image("BBBB")]);
  drafts.opened(1, "");
  assert.deepEqual(drafts.images(), [image("AAAA")]);
  assert.equal(drafts.images(), drafts.images(), "so that nothing is shown anew without need");
  drafts.keepImages([]);
  const reloaded = createDrafts(tab);
  assert.deepEqual(reloaded.images(), []);
  reloaded.opened(2, "");
  assert.deepEqual(reloaded.images(), [image("BBBB")]);
});

test("images_that_the_storage_has_no_room_for_last_as_long_as_the_page", () => {
  const drafts = createDrafts({ ...storage(), setItem: () => { throw new Error("full"); } });
  drafts.opened(1, "");
  drafts.keepImages([image("AAAA")]);
  drafts.opened(2, "");
  drafts.opened(1, "");
  assert.deepEqual(drafts.images(), [image("AAAA")]);
});

test("a_draft_that_was_sent_is_gone", () => {
  const tab = storage();
  const drafts = createDrafts(tab);
  drafts.opened(1, "");
  drafts.keep("sent");
  drafts.keep("");
  assert.equal(createDrafts(tab).text(), "");
});

test("a_storage_that_refuses_costs_only_the_draft", () => {
  const refuse = () => {
    throw new Error("forbidden");
  };
  const drafts = createDrafts({ getItem: refuse, setItem: refuse, removeItem: refuse });
  drafts.keep("x");
  assert.equal(drafts.text(), "");
  assert.equal(drafts.opened(1, "x"), "x");
});

test("a_refused_message_comes_back_in_front_of_what_was_begun_meanwhile", () => {
  assert.equal(joined("refused", "begun"), "refused\n\nbegun");
  assert.equal(joined("", "begun"), "begun");
  assert.equal(joined("refused", " "), "refused");
  assert.equal(joined("same", "same"), "same");
});
