// Notifications of the system: only if a person switched them on and the browser allows them, and a
// press goes to what they tell of. The favicon of the tab, which says the same to everybody.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { afterEach, beforeEach, test } from "node:test";
import { load } from "./load.mjs";

const { createAttention, notify } = await load("shell/attention.js");
const { initialWorkspace, reduceWorkspace } = await load("core/workspace.js");

let shown;
let choices;
beforeEach(() => {
  shown = [];
  choices = { notify: true };
  globalThis.localStorage = { getItem: () => JSON.stringify(choices), setItem() {} };
  globalThis.window = { focus: () => shown.push("focus") };
  globalThis.Notification = class {
    static permission = "granted";

    constructor(name, { body }) {
      Object.assign(this, { name, body });
      shown.push(this);
    }

    close() {
      shown.push("close");
    }
  };
});
afterEach(() => {
  for (const name of ["localStorage", "window", "Notification", "document", "dispatchEvent"]) delete globalThis[name];
});

test("nothing_is_notified_that_was_not_switched_on_and_allowed", () => {
  choices = {};
  notify("Approval needed");
  choices = { notify: true };
  Notification.permission = "default";
  notify("Approval needed");
  assert.deepEqual(shown, []);
});

test("a_press_comes_back_to_the_tab_and_goes_where_it_tells_of", () => {
  const gone = [];
  notify("Approval needed", () => gone.push("there"));
  assert.deepEqual([shown[0].body, gone], ["Approval needed", []]);
  shown[0].onclick();
  assert.deepEqual([shown.slice(1), gone], [["focus", "close"], ["there"]]);
});

test("the_favicon_and_the_title_say_that_an_approval_waits_until_it_is_decided", () => {
  const file = (name) => new URL(`../../static/${name}`, import.meta.url);
  const [, named] = /<link rel="icon" href="([^"]+)"/.exec(readFileSync(file("index.html"), "utf8"));
  const icon = { href: `http://page${named}` };
  globalThis.document = { hidden: false, title: "", querySelector: (css) => (css === "link[rel=icon]" ? icon : null) };
  const frame = (seq, fields) => ({ conversation: 1, seq, turn: 1, ...fields });
  const hello = { type: "hello", conversation: 1, conversations: {}, last_seq: 0, model: {}, version: "1" };
  const asked = frame(3, { type: "approval", id: 5, state: "pending", call: 5, tool: "x", arguments: {}, what: ["Does it."] });
  const attention = createAttention({ name: () => "level3" });
  let workspace = initialWorkspace();
  const next = (action) => (attention((workspace = reduceWorkspace(workspace, action))), [icon.href.split("/").at(-1), document.title]);
  const plain = ["favicon.svg", "level3"];
  assert.deepEqual(next(hello), plain);
  next(frame(1, { type: "turn", state: "queued", origin: "message", content: "Go on." }));
  assert.deepEqual(next(frame(2, { type: "turn", state: "running" })), plain);
  const [waits, title] = next(asked);
  assert.equal(waits, "favicon-waits.svg");
  assert.ok(existsSync(file(waits)) && existsSync(file(plain[0])), "both are there");
  assert.equal(title, "Approval needed · level3");
  assert.deepEqual(next(frame(4, { type: "approval", id: 5, state: "approved", call: 5, channel: "page" })), plain);
  // In a conversation that nobody has opened, too.
  assert.equal(next({ type: "waiting", approvals: [8] })[0], "favicon-waits.svg");
  assert.deepEqual(next({ type: "waiting", approvals: [] }), plain);
});

test("a_finished_turn_out_of_sight_leads_to_its_conversation_and_an_approval_to_itself", () => {
  const said = [];
  globalThis.document = { hidden: true, title: "", querySelector: () => null };
  globalThis.dispatchEvent = ({ type, detail }) => said.push([type, detail]);
  const frame = (seq, fields) => ({ conversation: 1, seq, turn: 1, ...fields });
  const hello = { type: "hello", conversation: 1, conversations: {}, last_seq: 0, model: {}, version: "1" };
  const asked = frame(3, { type: "approval", id: 5, state: "pending", call: 5, tool: "x", arguments: {}, what: ["Does it."] });
  const actions = [hello, frame(1, { type: "turn", state: "queued", origin: "message", content: "Go on." }), frame(2, { type: "turn", state: "running" }), asked];
  const attention = createAttention({ name: () => "level3" });
  let workspace = initialWorkspace();
  const next = (action) => attention((workspace = reduceWorkspace(workspace, action)));
  for (const action of actions) next(action);
  assert.equal(shown.length, 1);
  shown[0].onclick();
  next(frame(4, { type: "turn", state: "completed" }));
  shown.at(-1).onclick();
  assert.deepEqual(said, [["show-approval", null], ["go-conversation", 1]]);
});
