// The parts of the shell that need no browser: addresses, keys, the palette's choice, groups of
// conversations, words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { addressOf, parseAddress } = await load("core/address.js");
const conversations = await load("chat/grouping.js");
const { fitting, foundEntries } = await load("shell/palette.js");
const { keyName } = await load("shell/keys.js");
const { meaning } = await load("shell/shortcuts.js");
const { fitKeyboard } = await load("shell/viewport.js");
const { default: en } = await load("words/en.js");
const { default: pt } = await load("words/pt.js");
const partOf = async (name) => [name, (await load(`words/en-${name}.js`)).default, (await load(`words/pt-${name}.js`)).default];
const parts = await Promise.all(["activity", "announced", "approvals", "campaigns", "capabilities", "chart", "find", "palette", "settings", "tasks"].map(partOf));

test("an_address_is_a_place_and_what_is_below_it", () => {
  assert.deepEqual(parseAddress("#chat/7"), { place: "chat", parts: ["7"] });
  assert.deepEqual(parseAddress(""), { place: "", parts: [] });
  assert.deepEqual(parseAddress("#capabilities/a%2Fb/v2"), { place: "capabilities", parts: ["a/b", "v2"] });
  assert.deepEqual(parseAddress("#a%ZZ"), { place: "a%ZZ", parts: [] }, "a broken address is not there, and breaks nothing");
  assert.deepEqual(parseAddress(addressOf("capabilities", "a/b ü")), { place: "capabilities", parts: ["a/b ü"] });
});

test("conversations_stand_in_groups_by_the_reader_s_day", () => {
  const now = new Date(2026, 10, 22, 0, 30).getTime();
  const at = (...parts) => new Date(...parts).toISOString();
  const all = [
    { id: 1, pinned: true, active_at: at(2020, 0, 1) },
    { id: 2, active_at: at(2026, 10, 22, 0, 10) },
    { id: 3, active_at: at(2026, 10, 21, 0, 5) },
    { id: 4, active_at: at(2026, 10, 20, 23, 59) },
    { id: 5, active_at: null },
  ];
  const keys = conversations.groupedRows(all, now).map(({ group, id }) => group ?? id);
  assert.deepEqual(keys, ["pinned", 1, "today", 2, 5, "yesterday", 3, "earlier", 4]);
});

test("the_second_language_names_only_words_that_there_are_in_the_same_form", () => {
  const wrong = [];
  const compare = (base, other, path) => {
    for (const [name, value] of Object.entries(other)) {
      const known = base[name];
      if (typeof known !== typeof value) wrong.push(`${path}${name}`);
      else if (typeof value === "object") compare(known, value, `${path}${name}.`);
      else if (typeof value === "function" && known.length !== value.length) wrong.push(`${path}${name}()`);
    }
    for (const name of Object.keys(base)) if (path !== "" && !(name in other)) wrong.push(`${path}${name} is missing`);
  };
  compare(en, pt, "");
  for (const [name, base, other] of parts) compare({ [name]: base }, { [name]: other }, "");
  assert.deepEqual(wrong, []);
});

test("a_key_means_something_only_if_it_is_not_part_of_what_is_written", () => {
  const pressed = (key, fields = {}, writes = false) => meaning({ key, ...fields }, writes);
  assert.equal(pressed("k", { ctrlKey: true }, true), "palette");
  assert.equal(pressed("K", { metaKey: true }), "palette");
  assert.equal(pressed("O", { ctrlKey: true, shiftKey: true }, true), "new");
  assert.equal(pressed("o", { ctrlKey: true }), undefined, "the browser's own");
  assert.equal(pressed("/"), "write");
  for (const key of ["/", "?", "["]) assert.equal(pressed(key, {}, true), undefined, key);
  assert.equal(pressed("Escape", {}, true), "stop");
  assert.equal(pressed("Escape", { defaultPrevented: true }), undefined, "something else took it");
  assert.equal(pressed("Escape", { isComposing: true }), undefined);
  assert.equal(pressed("ArrowUp", { altKey: true }), "previous");
  assert.equal(pressed("["  , { ctrlKey: true, altKey: true }), undefined, "AltGr is no shortcut");
});

test("a_key_is_named_as_the_machine_before_the_person_names_it", () => {
  const named = (platform) => ["Ctrl", "Alt", "Shift", "K", "/"].map((key) => keyName(key, platform)).join(" ");
  assert.equal(named("Linux x86_64"), "Ctrl Alt Shift K /");
  assert.equal(named("MacIntel"), "⌘ ⌥ ⇧ K /");
  assert.equal(named("iPad"), "⌘ ⌥ ⇧ K /");
});

test("the_palette_finds_by_words_in_any_order_and_puts_beginnings_first", () => {
  const entries = ["Books of the year", "Tasks", "The year of tasks"].map((text) => ({ text }));
  const found = (text) => fitting(entries, text).map((entry) => entry.text);
  assert.deepEqual(found("task"), ["Tasks", "The year of tasks"]);
  assert.deepEqual(found("year books"), ["Books of the year"]);
  assert.deepEqual(found("nothing"), []);
  assert.equal(found("").length, 3);
  assert.equal(fitting(Array.from({ length: 500 }, (_, n) => ({ text: `x${n}` })), "x").length, 30);
});

test("the_palette_has_what_the_server_found_once_and_what_is_listed_not_again", () => {
  const gone = [];
  const found = [{ conversation: 9, title: "Old" }, { conversation: 9, title: "Old" }, { conversation: 1, title: "Listed" }, { conversation: 8, title: "" }];
  const entries = foundEntries(found, new Set([1, undefined]), (...to) => gone.push(to));
  assert.deepEqual(entries.map(({ text }) => text), ["Old", en.dock.conversation(8)]);
  entries[0].run();
  assert.deepEqual(gone, [["chat", "9"]]);
});

test("a_message_that_was_found_leads_to_itself_also_in_a_listed_conversation", () => {
  const gone = [];
  const snippet = [{ text: "the", hit: false }, { text: "\n  roof", hit: true }];
  const found = [
    { conversation: 1, title: "Listed", turn: 12, role: "user", snippet },
    { conversation: 1, title: "Listed", turn: 12, role: "assistant", snippet },
    { conversation: 8, title: "", turn: 3, role: "user", snippet: [] },
  ];
  const entries = foundEntries(found, new Set([1]), (...to) => gone.push(to));
  const unnamed = en.dock.conversation(8);
  assert.deepEqual(entries.map(({ text, kind }) => [text, kind]), [["the roof", "Listed"], ["the roof", "Listed"], [unnamed, unnamed]]);
  for (const entry of entries) entry.run();
  assert.deepEqual(gone, [["chat", "1", "12"], ["chat", "1", "12", "answer"], ["chat", "8", "3"]]);
});

test("the_page_ends_where_the_keyboard_of_a_phone_begins", () => {
  globalThis.innerHeight = 844;
  const shown = { open: false, seen: undefined };
  const style = { setProperty: (_, value) => (shown.seen = value), removeProperty: () => (shown.seen = undefined) };
  const root = { style, toggleAttribute: (_, is) => (shown.open = is) };
  let resized;
  const view = { height: 844, scale: 1, addEventListener: (_, listener) => (resized = listener) };
  fitKeyboard(view, root);
  const at = (changes) => {
    Object.assign(view, changes);
    resized();
    return shown;
  };
  assert.deepEqual(at({ height: 508 }), { open: true, seen: "508px" });
  assert.deepEqual(at({ height: 790 }), { open: false, seen: undefined }, "a bar of the browser is no keyboard");
  assert.deepEqual(at({ height: 400, scale: 2 }), { open: false, seen: undefined }, "nor is a page that was zoomed");
  delete globalThis.innerHeight;
  fitKeyboard(undefined, root);
});
