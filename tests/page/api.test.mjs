// The page's questions to the HTTP interface, with a `fetch` of the test's own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createApi } = await load("core/api.js");
const { siteApi } = await load("core/api-site.js");
const { workApi } = await load("core/api-work.js");
const { createLists } = await load("core/lists.js");
const { reasonOf, words } = await load("core/words.js");

function setUp(answers) {
  const asked = [];
  const fetch = async (path, { method, body }) => {
    asked.push([method, path, body]);
    const [status, answer] = answers[`${method} ${path}`] ?? [404, { error: "There is nothing here." }];
    return { ok: status < 300, status, text: async () => (answer === undefined ? "" : typeof answer === "string" ? answer : JSON.stringify(answer)) };
  };
  return { api: createApi(fetch), asked };
}

test("lists_are_read_bare_or_wrapped_and_a_state_says_whether_a_capability_is_enabled", async () => {
  const { api } = setUp({
    "GET /api/capabilities": [
      200,
      {
        capabilities: [
          { name: "a", state: "disabled" },
          { name: "b", state: "installed" },
        ],
      },
    ],
    "GET /api/secrets": [200, [{ name: "K" }]],
    "GET /api/usage": [200, { today: {} }],
  });
  assert.deepEqual(
    (await api.list("capabilities")).map(({ name, enabled }) => [name, enabled]),
    [
      ["a", false],
      ["b", true],
    ],
  );
  assert.deepEqual(await api.list("secrets"), [{ name: "K" }]);
  assert.deepEqual(await api.list("usage"), { today: {} });
});

test("changes_go_to_the_thing_by_its_name_and_an_empty_answer_is_enough", async () => {
  const { api, asked } = setUp({
    "PUT /api/secrets/API_KEY": [204, undefined],
    "DELETE /api/secrets/API_KEY": [204, undefined],
    "POST /api/capabilities/weather/disable": [200, { name: "weather" }],
    "POST /api/capabilities/weather/enable": [200, { name: "weather" }],
    "POST /api/capabilities/a%2Fb/enable": [200, { name: "a/b" }],
    "POST /api/calls/12/undo": [200, { call: 12, rows: 2 }],
  });
  assert.deepEqual(await api.undo(12), { call: 12, rows: 2 });
  asked.length = 0;
  const [site, work] = [siteApi(api.ask), workApi(api.ask)];
  await site.setSecret("API_KEY", "sesame");
  await site.removeSecret("API_KEY");
  await work.enable("weather", false);
  await work.enable("weather", true);
  assert.deepEqual(await work.enable("a/b", true), { name: "a/b" });
  assert.deepEqual(asked[0], ["PUT", "/api/secrets/API_KEY", '{"value":"sesame"}']);
  assert.equal(asked[1][2], undefined);
});

test("a_refusal_is_said_in_the_servers_sentence_and_otherwise_in_one_of_the_pages", async () => {
  const { api } = setUp({
    "PUT /api/secrets/x": [400, { error: "A name is made of capital letters." }],
    "GET /api/usage": [502, undefined],
  });
  await assert.rejects(siteApi(api.ask).setSecret("x", "v"), { message: "A name is made of capital letters." });
  await assert.rejects(api.list("usage"), { message: "The server refused this (502)." });
  for (const [told, sentence] of [["there is no task 2", "There is no task 2."], ["`limit` is 1 to 200", "`limit` is 1 to 200."], ["due_at is no time", "due_at is no time."], ["nothing was\n- a", "Nothing was\n- a."], ["ask, again!", "Ask, again!"]]) {
    await assert.rejects(setUp({ "GET /api/tasks": [400, { error: told }] }).api.list("tasks"), { message: sentence });
  }
  const down = createApi(() => Promise.reject(new TypeError("Failed to fetch")));
  await assert.rejects(down.list("usage"), { message: "The server cannot be reached." });
  const cut = createApi(async () => ({ ok: true, status: 200, text: () => Promise.reject(new TypeError("network error")) }));
  await assert.rejects(cut.list("usage"), { message: "The server cannot be reached." });
});

test("numbers_of_an_answer_and_of_a_request_keep_their_digits", async () => {
  const document = '{"chat_id":12345678901234567890,"share":1.0}';
  const { api, asked } = setUp({ "GET /api/operator/context": [200, `{"document":${document}}`], "PUT /api/operator/context": [200, {}] });
  const read = await api.ask("GET", "/api/operator/context");
  assert.equal(JSON.stringify(read.document), document);
  await api.ask("PUT", "/api/operator/context", read);
  assert.equal(asked.at(-1)[2], `{"document":${document}}`);
});

test("a_failure_of_the_browser_is_told_in_words_of_the_page", () => {
  assert.equal(reasonOf(Object.assign(new Error("A name is made of capital letters."), { status: 400 })), "A name is made of capital letters.");
  const others = [new TypeError("Failed to fetch dynamically imported module: http://localhost/s/x/tasks/index.js"), new DOMException("Unable to decode audio data", "EncodingError"), new SyntaxError("x")];
  for (const error of others) assert.equal(reasonOf(error), words.failed.here);
});

function lists({ open = [] } = {}) {
  const loads = [];
  const dispatched = [];
  const api = { list: (kind) => new Promise((resolve, reject) => loads.push({ kind, resolve, reject })) };
  return {
    loads,
    dispatched,
    ...createLists({ api, dispatch: (action) => dispatched.push(action), opened: (kind) => open.includes(kind) }),
  };
}
const connected = (fields = {}) => ({
  connection: { status: "connected" },
  capabilities: new Map(),
  turns: new Map(),
  elsewhere: { ids: [] },
  ...fields,
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("only_what_a_person_looks_at_is_asked_for", () => {
  const closed = lists();
  closed.changed(connected());
  assert.deepEqual(
    closed.loads.map(({ kind }) => kind),
    ["capabilities", "tasks", "timer"],
  );
  const open = lists({ open: ["secrets", "usage"] });
  open.changed(connected());
  assert.deepEqual(
    open.loads.map(({ kind }) => kind),
    ["capabilities", "secrets", "usage", "tasks", "timer"],
  );
  closed.changed(connected({ elsewhere: { ids: [8] } }));
  assert.equal(closed.loads.at(-1).kind, "approvals", "where something waits elsewhere");
});

test("a_list_is_asked_for_again_when_something_changed_and_not_before", async () => {
  const { loads, changed, dispatched } = lists({ open: ["usage"] });
  const state = connected();
  for (let times = 0; times < 3; times++) changed(state);
  assert.equal(loads.length, 4);
  for (const { resolve } of loads) resolve([]);
  await settled();
  changed(state);
  assert.equal(loads.length, 4, "what the answer itself changed is no reason");
  changed({ ...state, turns: new Map([[1, { state: "completed" }]]) });
  assert.deepEqual([loads.length, loads.at(-1).kind], [5, "usage"]);
  changed({ ...state, connection: { status: "offline" } });
  loads.at(-1).reject(new Error("gone"));
  await settled();
  assert.deepEqual(dispatched.at(-1), { type: "@list", kind: "usage", error: "gone" });
  changed(state);
  assert.equal(loads.length, 9, "after a break everything is asked for again");
});

test("changes_while_an_answer_is_under_way_are_one_more_question", async () => {
  const { loads, load } = lists();
  load("capabilities");
  load("capabilities");
  load("capabilities");
  assert.equal(loads.length, 1);
  loads[0].resolve([]);
  await settled();
  assert.equal(loads.length, 2);
  loads[1].resolve([]);
  await settled();
  assert.equal(loads.length, 2);
});
