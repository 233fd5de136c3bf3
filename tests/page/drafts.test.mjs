// What is begun in a place and not sent: it comes back with the place, and is forgotten when it is
// sent.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { draftOf } = await load("core/drafts.js");
const { addForm } = await load("tasks/add.js");
const { takeOver } = await load("relay/compose.js");
const { tasksSection } = await load("campaigns/tasks.js");

/** A tab's storage. */
function tab() {
  const held = new Map();
  return { held, getItem: (key) => held.get(key) ?? null, setItem: (key, value) => held.set(key, value), removeItem: (key) => held.delete(key) };
}

/** As much of a document as these forms take; `of(id)` finds an element in `node`, and an event goes up. */
const paper = {
  createElement: (tag) => {
    const [children, listeners, attributes] = [[], {}, {}];
    const node = {
      tag, children, attributes, dataset: {}, hidden: false, open: false, textContent: "", value: "", isConnected: true,
      append: (...more) => more.forEach((child) => (children.push(child), typeof child === "object" && (child.parent = node))),
      prepend: (...more) => children.unshift(...more),
      replaceChildren: (...more) => (children.splice(0), children.push(...more)),
      addEventListener: (kind, listener) => (listeners[kind] ??= []).push(listener),
      setAttribute: (name, value) => (attributes[name] = value),
      removeAttribute: (name) => delete attributes[name],
      getAttribute: (name) => attributes[name] ?? null,
      contains: () => false,
      focus() {},
      fire(kind, event = { preventDefault() {} }) {
        for (const listener of listeners[kind] ?? []) listener(event);
        node.parent?.fire(kind, event);
      },
      click: () => listeners.click?.forEach((listener) => listener({ preventDefault() {} })),
      type(text) {
        node.value = text;
        node.fire("input");
      },
      of: (id) => (attributes["data-testid"] === id ? node : children.reduce((found, child) => found ?? child.of?.(id), undefined)),
    };
    return node;
  },
  createElementNS: (_, tag) => paper.createElement(tag),
};
const settle = () => new Promise((resolve) => setTimeout(resolve));

test("a_draft_is_kept_in_the_tab_until_it_is_sent", () => {
  const storage = tab();
  draftOf(storage, "a").keep("one", "");
  assert.deepEqual(draftOf(storage, "a").texts(), ["one", ""]);
  assert.deepEqual(draftOf(storage, "b").texts(), [], "each place has its own");
  const there = draftOf(storage, "a");
  draftOf(storage, "a").keep("two");
  there.sent();
  assert.deepEqual(draftOf(storage, "a").texts(), ["two"], "what was begun meanwhile is not what was sent");
  draftOf(storage, "a").sent("rest");
  assert.deepEqual(draftOf(storage, "a").texts(), ["rest"]);
  draftOf(storage, "a").sent();
  assert.equal(storage.held.size, 0);
});

test("a_storage_that_takes_nothing_or_holds_junk_loses_the_draft_and_no_more", () => {
  const shut = () => {
    throw new Error("shut");
  };
  const draft = draftOf({ getItem: shut, setItem: shut, removeItem: shut }, "a");
  draft.keep("one");
  draft.sent();
  assert.deepEqual(draft.texts(), []);
  const full = { ...tab(), setItem: shut };
  full.held.set("level3.typed.a", '["old"]');
  draftOf(full, "a").keep("new");
  assert.deepEqual(draftOf(full, "a").texts(), [], "an older one does not come back in its place");
  for (const junk of ["{", "{}", "null", "7"]) assert.deepEqual(draftOf({ ...tab(), getItem: () => junk }, "a").texts(), [], junk);
});

test("what_was_begun_in_a_place_is_there_again_and_gone_once_it_was_sent", async () => {
  globalThis.document = paper;
  try {
    const storage = tab();
    const tasks = () => addForm(() => {}, storage).node;
    tasks().of("task-new").type("Buy milk");
    tasks().of("task-due").type("2026-12-01T09:00");
    assert.deepEqual([tasks().of("task-new").value, tasks().of("task-due").value], ["Buy milk", "2026-12-01T09:00"]);
    tasks().of("task-add").click();
    await settle();
    assert.equal(tasks().of("task-new").value, "");

    const made = [];
    const api = { addCampaignTask: async (_, task) => (made.push(task.description) > 1 ? Promise.reject(new Error("refused")) : { told: "" }) };
    const section = (id) => tasksSection({ api, id, storage, order() {}, load() {}, announce() {} }).node;
    section(3).of("campaigns-add-tasks").type("one\ntwo");
    assert.equal(section(4).of("campaigns-add-tasks").value, "", "another campaign has its own");
    const again = section(3);
    assert.deepEqual([again.of("campaigns-add-tasks").value, again.of("campaigns-add").open, section(4).of("campaigns-add").open], ["one\ntwo", true, false]);
    again.of("campaigns-add-go").click();
    await settle();
    assert.deepEqual(JSON.parse(section(3).of("campaigns-add-tasks").value), [{ description: "two" }], "what was refused is left");
  } finally {
    delete globalThis.document;
  }
});

test("a_task_that_is_refused_comes_back_to_be_mended_and_its_title_has_the_length_of_the_server", async () => {
  globalThis.document = paper;
  try {
    const storage = tab();
    const [asked, outcomes] = [[], []];
    let isBegun;
    const { node } = addForm((fields, begun) => ((isBegun = begun), asked.push(fields.title), new Promise((resolve) => outcomes.push(resolve))), storage);
    const [title, due] = [node.of("task-new"), node.of("task-due")];
    const [, most] = /LONGEST_TITLE: usize = (\d+)/.exec(readFileSync(new URL("../../src/domain/todo/title.rs", import.meta.url), "utf8"));
    assert.equal(String(title.attributes.maxlength), most);
    const add = (text) => (title.type(text), node.of("task-add").click());
    due.type("2026-12-01T09:00");
    add(" Buy milk ");
    assert.deepEqual([title.value, due.value, asked], ["", "", ["Buy milk"]], "there is room for the next one at once");
    outcomes[0]({ state: "failed", said: "refused" });
    await settle();
    assert.deepEqual([title.value, due.value, draftOf(storage, "tasks").texts()], [" Buy milk ", "2026-12-01T09:00", [" Buy milk ", "2026-12-01T09:00"]]);
    node.of("task-add").click();
    outcomes[1]({ state: "done" });
    await settle();
    assert.deepEqual([title.value, storage.held.size], ["", 0]);
    add("Another");
    assert.equal(isBegun(), false, "a refused one will stand in the form");
    title.type("A third");
    assert.equal(isBegun(), true, "and now it would be lost");
    outcomes[2]({ state: "failed", said: "refused" });
    await settle();
    assert.equal(title.value, "A third", "the one that is begun stays");
  } finally {
    delete globalThis.document;
  }
});

test("words_to_a_contact_that_come_back_after_a_failure_are_sent_under_the_same_key", async () => {
  globalThis.document = paper;
  try {
    const storage = tab();
    const [sent, answers] = [[], [new Error("no line"), {}]];
    const api = {
      relaySend: async (_, words, key) => {
        sent.push([words, key]);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
      },
    };
    const arrive = () => takeOver({ api, id: 7, storage, announce() {}, changed: async () => {} }).node;
    arrive().of("relay-text").type("Hello");
    for (const _ of [1, 2]) {
      const node = arrive();
      assert.equal(node.of("relay-text").value, "Hello");
      node.of("relay-send").click();
      await settle();
    }
    assert.equal(sent.length, 2);
    assert.deepEqual(sent[0], sent[1]);
    assert.equal(arrive().of("relay-text").value, "");
    assert.equal(storage.held.size, 0);
  } finally {
    delete globalThis.document;
  }
});
