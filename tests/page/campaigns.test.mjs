// The place of campaigns: the list, one campaign with all that it has, and the sign that somebody
// is there.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { argumentLines, baseOf, cyclesOf, effectWords, safeAddress, tasksOf } from "../../static/campaigns/rows.js";
import { deeper, lookBack } from "../../static/campaigns/older.js";
import { proofWords, verdictWords } from "../../static/campaigns/proof.js";
import { campaignsApi } from "../../static/core/api-campaigns.js";
import english from "../../static/words/en-campaigns.js";
import portuguese from "../../static/words/pt-campaigns.js";
import { campaignWorld } from "./support/campaign-world.mjs";
import { openScreen } from "./support/screens.mjs";
import { serveScreens } from "./support/screens-server.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { fullWorld } from "./support/worlds.mjs";

test("both_languages_have_the_same_words", () => {
  const shape = (words) => JSON.stringify(words, (_, value) => (typeof value === "function" ? "f" : typeof value === "string" ? "s" : value));
  assert.equal(shape(english), shape(portuguese));
  assert.match(english.campaigns.rules, /LinkedIn/);
});

test("each_question_of_the_place_has_its_address", async () => {
  const asked = [];
  const api = campaignsApi(async (...all) => (asked.push(all), {}));
  await api.artifactVersions(3, "message", "a.b");
  await api.campaignLog(3, "audit", "answer refused");
  await api.campaignLogKinds(3);
  await api.revokeContext(3, 1);
  await api.changeCampaignTask(3, 2, "block", "later");
  await api.setLead(3, 1, "won");
  await api.exportCampaign(3, "events");
  await api.allowNext(3, { kind: "task", count: 2 });
  assert.deepEqual(asked, [
    ["GET", "/api/campaigns/3/artifacts/message/a.b"],
    ["GET", "/api/campaigns/3/log?log=audit&limit=200&kind=answer+refused"],
    ["GET", "/api/campaigns/3/log/kinds"],
    ["DELETE", "/api/campaigns/3/contexts/1"],
    ["POST", "/api/campaigns/3/tasks/2", { deed: "block", reason: "later" }],
    ["POST", "/api/campaigns/3/leads/status", { lead: 1, status: "won" }],
    ["GET", "/api/campaigns/3/export?from=events"],
    ["POST", "/api/campaigns/3/contexts", { kind: "task", count: 2 }],
  ]);
});

test("tasks_are_lines_or_json", () => {
  assert.deepEqual(tasksOf("- Keep a note\n\n  Draft a message "), [{ description: "Keep a note" }, { description: "Draft a message" }]);
  assert.deepEqual(tasksOf('{"tasks": [{"description": "a"}]}'), [{ description: "a" }]);
  assert.deepEqual(tasksOf('[{"description": "a"}]'), [{ description: "a" }]);
  for (const one of ['{"description": "a"}', '{"tasks": {"description": "a"}}']) assert.deepEqual(tasksOf(one), [{ description: "a" }], one);
  assert.deepEqual(tasksOf("{}"), [{}], "the server says what it lacks");
  assert.deepEqual(tasksOf(" "), []);
  assert.throws(() => tasksOf("[{"), SyntaxError);
});

test("a_cycle_has_what_was_refused_proposed_done_and_proven", () => {
  const { answers } = campaignWorld((later) => new Date(later).toISOString());
  const logOf = (log) => answers["/api/campaigns/3/log"]({ search: new URLSearchParams({ log }) });
  const [running, ended] = cyclesOf(logOf("events"), logOf("audit"));
  assert.deepEqual([running.turn, running.requests, running.ended, running.evidence], [8, 1, undefined, []]);
  assert.deepEqual([ended.turn, ended.requests, ended.proposal, ended.came, ended.refused.length, ended.calls[0].verdict], [7, 2, "persist_artifact", "kept the heuristic note", 1, "ask"]);
  assert.deepEqual(ended.evidence, [{ task: 1, effect: { kind: "artifact_exists", type: "heuristic", key: "note" }, events: [12], calls: [4] }]);
  assert.equal(effectWords(english.campaigns.effects, ended.evidence[0].effect), "The heuristic “note” is kept");
  assert.equal(effectWords(english.campaigns.effects, { kind: "artifact_exists", type: "message", key: "a", min_version: 3 }), "The message “a” is kept in version 3 at least");
  assert.equal(effectWords(english.campaigns.effects, { kind: "toString", of: [1] }), "toString, of: [1]", "one that a newer server knows");
});

test("a_proof_names_events_and_calls_and_a_verdict_names_the_approval", () => {
  const effect = { kind: "tool_succeeded", tool: "score_leads" };
  assert.equal(proofWords({ effect, events: [12, 13], calls: [4] }), "score_leads has succeeded (by events 12, 13, by calls 4)");
  assert.equal(proofWords({ effect, events: [], calls: [4] }), "score_leads has succeeded (by calls 4)", "nothing is named that is not there");
  assert.equal(proofWords({ effect }), "score_leads has succeeded");
  assert.equal(verdictWords({ verdict: "ask", approval: 7, refusal: null }), "Allowed by a person, approval 7");
  assert.equal(verdictWords({ verdict: "allow", approval: null, refusal: null }), "Allowed without a question");
  assert.equal(verdictWords({ verdict: "deny", approval: null, refusal: "denied" }), "Not allowed: denied");
});

test("a_score_begins_with_what_its_rules_did_not_give", () => {
  assert.equal(baseOf({ points: [{ weight: 80 }, { weight: -20 }], sum: 65 }), 5);
  assert.equal(baseOf({ points: [], sum: 0 }), 0);
});

test("a_score_names_its_config_if_it_is_known", () => {
  const told = (key) => [english, portuguese].map(({ campaigns }) => campaigns.scoreBy(2, key));
  assert.deepEqual(told("fit"), ["By version 2 of the config fit", "Pela versão 2 da configuração fit"]);
  assert.deepEqual(told(undefined), ["By version 2 of the config", "Pela versão 2 da configuração"]);
});

test("each_look_back_asks_for_more_lines_until_the_server_has_no_more_to_give", async () => {
  const asked = [];
  const api = { campaignLog: (id, log, kind, lines) => (asked.push([id, log, kind, lines]), log === "events" ? Array.from({ length: lines }) : []) };
  assert.deepEqual((await lookBack(api, 3, 5)).back, { depth: 5, isCut: true });
  assert.deepEqual(asked, [[3, "events", "", 1000], [3, "audit", "", 1000]]);
  const short = { campaignLog: () => [{}] };
  assert.deepEqual(await lookBack(short, 3, 1), { events: [{}], audit: [{}], back: { depth: 1, isCut: false } });
  const depths = [1];
  while (depths.length < 6) depths.push(deeper(depths.at(-1)));
  assert.deepEqual(depths, [1, 5, 25, 50, 50, 50]);
});

test("what_was_proposed_is_shown_argument_by_argument", () => {
  assert.equal(argumentLines('{"task":1,"content":"a\\nb","needs":["x"]}'), 'task: 1\ncontent: a\nb\nneeds: ["x"]');
  assert.equal(argumentLines("no JSON"), "no JSON");
  assert.equal(argumentLines(undefined), "");
});

test("a_link_leads_to_the_web_and_nowhere_else", () => {
  assert.equal(safeAddress("https://example.com/a"), "https://example.com/a");
  for (const text of ["javascript:alert(1)", "data:text/html,x", " https://example.com", ""]) assert.equal(safeAddress(text), undefined, text);
});

let browser;
before(async () => {
  if (!skip) browser = await startBrowser();
});
after(async () => browser?.end());

/** Runs `work` on a page of this place at `hash`. */
async function on(hash, work) {
  const now = Date.now();
  const campaigns = campaignWorld((later) => new Date(now + later).toISOString());
  const world = fullWorld(now);
  Object.assign(world.api, campaigns.answers);
  const present = [];
  world.heard = ({ type, campaign }) => type === "present" && present.push(campaign);
  const server = await serveScreens(world);
  try {
    await browser.size(1440, 900);
    await openScreen(browser, server.address, { hash, steps: [] });
    await work({ campaigns, server, world, present });
    assert.deepEqual((await browser.errors()).filter((text) => !text.includes("Failed to load resource")), []);
  } finally {
    server.end();
  }
}
const see = (css, text) => browser.waitFor(`const node = document.querySelector(arguments[0]); return node?.checkVisibility() && node.innerText.includes(arguments[1])`, css, text);
const click = (css) => browser.js(`document.querySelector(arguments[0]).click()`, css);
const write = (css, text) => browser.js(`document.querySelector(arguments[0]).value = arguments[1]`, css, text);

test("campaigns_are_listed_with_their_state_and_why_one_waits", { skip }, () =>
  on("#campaigns", async ({ campaigns }) => {
    await see("[data-campaign='3']", "Active");
    await see("[data-campaign='3']", "the question tone waits for an answer");
    await see("[data-campaign='2']", "does not fit its sha256");
    await see("[data-campaign='1']", "<img src=x onerror=alert(1)>U+202E");
    await see("[data-testid=campaigns]", "LinkedIn");
    await click("[data-campaign='3'] a");
    await see("[data-testid=campaigns-state]", "Active");
    assert.equal(await browser.js("return location.hash"), "#campaigns/3");
    await click("[data-testid=campaigns-back]");
    await see("[data-testid=campaigns-list]", "Spring fair");
    campaigns.campaigns[1].name = "\u202eFair";
    await click("[data-campaign='3'] a");
    await see("l3-header h1", "⟨U+202E⟩Fair");
  }));

test("a_campaign_is_made_of_lines_and_what_is_refused_stays", { skip }, () =>
  on("#campaigns", async ({ campaigns }) => {
    await see("[data-testid=campaigns-make]", "Make a campaign");
    await click("[data-testid=campaigns-make]");
    await see(".campaigns-form .wrong:not([hidden])", "Give it a name.");
    await write("[data-testid=campaigns-name]", "Summer fair");
    for (const [tasks, wrong] of [["[{", "This begins like JSON and is none: look at brackets, quotes and commas, or write one task a line."], ['[{"description": "a", "requires": "x"}]', "tasks[0].requires"]]) {
      await write("[data-testid=campaigns-tasks]", tasks);
      await click("[data-testid=campaigns-make]");
      await see(".campaigns-form .wrong:not([hidden])", wrong);
    }
    await write("[data-testid=campaigns-tasks]", "Keep a note\nDraft a message");
    await click("[data-testid=campaigns-make]");
    await see("[data-testid=campaigns-state]", "Not started");
    assert.equal(campaigns.asked.at(-1), 'make Summer fair [{"description":"Keep a note"},{"description":"Draft a message"}]');
    assert.equal(await browser.js("return location.hash"), "#campaigns/5");
  }));

test("it_is_paused_resumed_and_copied_and_a_start_says_what_is_missing", { skip }, async () => {
  await on("#campaigns/3", async ({ campaigns }) => {
    await see("[data-testid=campaigns-why]", "the question tone waits");
    await see(".campaigns-head", ", or as soon as something is new");
    await click("[data-testid=campaigns-pause]");
    await see("[data-testid=campaigns-state]", "Paused");
    await click("[data-testid=campaigns-cycle]");
    await see("[data-testid=campaigns-state]", "Active");
    await click("[data-testid=campaigns-pause]");
    await see("[data-testid=campaigns-state]", "Paused");
    await click("[data-testid=campaigns-resume]");
    await see("[data-testid=campaigns-state]", "Active");
    await click("[data-testid=campaigns-copy]");
    await see("[data-testid=campaigns-state]", "Not started");
    assert.deepEqual(campaigns.asked, ["pause", "cycle", "pause", "resume", "copy"]);
    await click("[data-testid=campaigns-start]");
    await see("[data-testid=campaigns-detail] .problem", "no model answers");
  });
  await on("#campaigns/99", () => see("[data-testid=campaigns-detail] .error-state", "Campaign 99 could not be opened."));
});

test("tasks_show_what_is_unproven_and_take_answers_and_deeds", { skip }, () =>
  on("#campaigns/3", async ({ campaigns }) => {
    await see("[data-task='1']", "The heuristic “note” is kept (by events 12, by calls 4)");
    await see("[data-task='2']", "the message hello is not kept");
    await see("[data-task='6']", "Not before Friday.");
    assert.equal(await browser.js(`return document.querySelector("[data-place=campaigns] img")`), null, "words of others are text");
    await write("[data-task='2'] [data-testid=campaigns-answer]", "Formal");
    await click("[data-task='2'] [data-testid=campaigns-answer-send]");
    await see("[data-task='2']", "Answered: Formal");
    await click("[data-task='5'] [data-testid=campaigns-finish]");
    await see("[data-task='5']", "Finished by a person.");
    await click("[data-task='6'] [data-testid=campaigns-unblock]");
    await see("[data-task='6']", "To do");
    await click("[data-task='6'] [data-testid=campaigns-block]");
    await write("[data-testid=campaigns-reason]", "Later");
    await click("[data-testid=confirm]");
    await see("[data-task='6']", "Later");
    assert.deepEqual(campaigns.asked, ["answer 2 tone Formal", "finish 5", "unblock 6", "block 6 Later"]);
  }));

test("a_task_says_when_it_begins_and_is_finished_no_sooner", { skip }, () =>
  on("#campaigns/3", async ({ campaigns, server }) => {
    await see("[data-task='5'] [data-testid=campaigns-finish]", "Finish");
    campaigns.info.tasks[2].begins_when = [{ words: "task 1 is done", holds: true }, { words: "task 2 is done", holds: false }];
    server.say({ type: "changed", list: "campaigns" });
    await see("[data-task='5']", "Begins when");
    await see("[data-task='5']", "task 1 is done (holds)");
    await see("[data-task='5']", "task 2 is done");
    assert.equal(await browser.js(`return document.querySelector("[data-task='5'] [data-testid=campaigns-finish]")`), null);
  }));

test("a_draft_of_an_answer_survives_news", { skip }, () =>
  on("#campaigns/3", async ({ campaigns, server }) => {
    await see("[data-task='2']", "Formal or friendly?");
    await browser.js(`const text = document.querySelector("[data-testid=campaigns-answer]"); text.value = "For"; text.focus()`);
    campaigns.info.tasks[1].unproven = ["something else is missing"];
    server.say({ type: "changed", list: "campaigns" });
    await see("[data-task='2']", "something else is missing");
    assert.deepEqual(await browser.js(`const text = document.querySelector("[data-testid=campaigns-answer]"); return [text.value, text === document.activeElement]`), ["For", true]);
  }));

test("leads_artifacts_contexts_cycles_and_logs_are_shown", { skip }, () =>
  on("#campaigns/3", async ({ campaigns }) => {
    await see("[data-lead='1']", "Score 100");
    await click("[data-lead='1'] summary");
    await see("[data-lead='1'] details", "By version 2 of the config fit");
    await see("[data-lead='1'] details", "Begins with 10");
    await see("[data-lead='1'] details", "Sum 120, kept within the bounds: 100");
    assert.equal(await browser.js(`return document.querySelector("[data-lead='2'] a")`), null, "a script is no address");
    await click("[data-testid=campaigns-artifacts] summary");
    await see("[data-testid=campaigns-artifacts] .diff", "would you like to see the flat?");
    assert.deepEqual(await browser.js(`return [...document.querySelectorAll("[data-testid=campaigns-artifacts] .diff-line")].map((node) => node.className.split(" ")[1])`), ["place", "same", "remove", "add", "same"]);
    await see("[data-testid=campaigns-cycles] [data-turn='7']", "Allowed by a person, approval 2");
    await see("[data-turn='7']", "two proposals; make exactly one");
    await see("[data-turn='7']", "Task 1: The heuristic “note” is kept (by events 12, by calls 4)");
    await see("[data-turn='8']", "under way");
    await see("[data-context='1']", "3 left, until");
    await see("[data-context='2']", "No longer counts");
    await click("[data-testid=campaigns-revoke]");
    await see("[data-context='1']", "No longer counts");
    assert.deepEqual(campaigns.asked, ["revoke 1"]);
    const kinds = () => browser.js(`return [...document.querySelectorAll("[data-testid=campaigns-logs] l3-campaign-part")].map((node) => node.dataset.kindOfLine).join()`);
    assert.equal(await kinds(), "persist_artifact,model request");
    const sees = (wanted) => browser.waitFor(`return [...document.querySelectorAll("[data-testid=campaigns-logs] l3-campaign-part")].map((node) => node.dataset.kindOfLine).join() === arguments[0]`, wanted);
    const choose = (name, value) => browser.js(`const node = document.querySelector("[data-testid=filter-" + arguments[0] + "]"); node.value = arguments[1]; node.dispatchEvent(new Event("change", { bubbles: true }))`, name, value);
    await choose("log", "events");
    assert.equal((await kinds()).split(",").length, 6);
    await choose("kind", "cycle_ended");
    await sees("cycle_ended");
    // The events have no such line; that of the audit is older than all that the page has loaded.
    await choose("log", "");
    await sees("persist_artifact,model request");
    await choose("kind", "file read");
    await sees("file read");
    assert.deepEqual(campaigns.asked, ["revoke 1", "file read, audit, 200"]);
  }));

test("pictures_are_seen_and_open_large_and_one_without_bytes_is_named", { skip }, () =>
  on("#campaigns/3", async () => {
    const row = "[data-artifact='picture flat']";
    await see(row, "flat");
    await browser.js(`document.querySelector(arguments[0]).scrollIntoView()`, row);
    await click(`${row} summary`);
    await see(row, `The picture ${"00".repeat(32)} cannot be shown.`);
    await browser.waitFor(`return document.querySelector(arguments[0])?.naturalWidth === 1`, `${row} img`);
    assert.deepEqual(await browser.js(`return [...document.querySelectorAll(arguments[0])].map(({ alt }) => alt)`, `${row} img`), ["Picture flat, version 1"]);
    assert.equal(await browser.js(`return document.querySelector(arguments[0])`, `${row} [data-testid=campaigns-another]`), null, "nobody writes a picture by hand");
    await click(`${row} [data-testid=campaigns-picture]`);
    await see("[data-testid=details]", "Picture flat, version 1");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=details] img").alt`), "Picture flat, version 1");
    assert.equal(await browser.js("return location.hash"), "#campaigns/3");
  }));

test("older_cycles_and_lines_are_a_press_away", { skip }, () =>
  on("#campaigns/3", async ({ world, server }) => {
    await see("[data-turn='7']", "Allowed by a person");
    const seen = (css) => browser.js(`return document.querySelector(arguments[0]).checkVisibility()`, css);
    const [cycles, logs] = ["[data-testid=campaigns-older-cycles]", "[data-testid=campaigns-older-logs]"];
    assert.deepEqual([await seen(cycles), await seen(logs)], [false, false], "all is shown");
    const line = (at) => ({ id: String(at), timestamp: new Date(at * 1000).toISOString(), kind: "cycle_ended", payload: { turn: at, proposal: "no_op", came: "nothing", next: "next cycle", campaign: {} } });
    world.api["/api/campaigns/3/log"] = ({ search }) => Array.from({ length: Number(search.get("limit")) }, (_, at) => line(2000 - at)).reverse();
    server.say({ type: "changed", list: "campaigns" });
    await see(cycles, "Show older");
    await see("[data-testid=campaigns-logs]", "The newest 50 lines are shown.");
    const count = (section) => browser.js(`return document.querySelectorAll(arguments[0]).length`, `[data-testid=campaigns-${section}] l3-campaign-part`);
    assert.deepEqual([await count("cycles"), await count("logs")], [30, 50]);
    await click(logs);
    await see("[data-testid=campaigns-logs]", "The newest 250 lines are shown.");
    assert.deepEqual([await count("cycles"), await count("logs")], [150, 250]);
  }));

test("somebody_is_there_only_while_a_campaign_is_in_sight", { skip }, () =>
  on("#campaigns", async ({ present }) => {
    await see("[data-campaign='3']", "Active");
    assert.deepEqual(present, [], "the list is no campaign");
    await click("[data-campaign='3'] a");
    await see("[data-light=presence]", "Somebody is there");
    for (let turn = 0; turn < 100 && present.length === 0; turn += 1) await browser.js("return 1");
    assert.deepEqual([...new Set(present)], [3]);
    const before = present.length;
    await browser.js(`Object.defineProperty(document, "hidden", { value: true, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`);
    await browser.js("return 1");
    assert.equal(present.length, before, "a page out of sight says nothing");
    await browser.js(`delete document.hidden; document.dispatchEvent(new Event("visibilitychange"))`);
    for (let turn = 0; turn < 100 && present.length === before; turn += 1) await browser.js("return 1");
    assert.equal(present.length, before + 1);
  }));

test("the_sign_that_somebody_is_there_is_repeated_every_15_s", { skip }, () =>
  on("#approvals", async ({ present }) => {
    // The place is put in after this, so the beats that it asks for can be rung here.
    await browser.js(`const real = window.setInterval; window.beats = []; window.setInterval = (beat, every, ...more) => (window.beats.push({ beat, every }), real(beat, every, ...more))`);
    await browser.js(`location.hash = "#campaigns/3"`);
    await see("[data-light=presence]", "Somebody is there");
    const ring = () => browser.js(`for (const { beat, every } of window.beats) if (every === 15_000) beat()`);
    const heard = async (count) => {
      for (let turn = 0; turn < 100 && present.length < count; turn += 1) await browser.js("return 1");
      return present.length;
    };
    assert.ok((await heard(1)) >= 1);
    const before = present.length;
    for (let beat = 0; beat < 4; beat += 1) await ring();
    assert.ok((await heard(before + 4)) >= before + 4, "each beat is a sign");
    await browser.js(`Object.defineProperty(document, "hidden", { value: true, configurable: true })`);
    const silent = present.length;
    await ring();
    await browser.js("return 1");
    assert.equal(present.length, silent, "a page out of sight has no beat");
    assert.deepEqual([...new Set(present)], [3]);
  }));

test("an_approval_of_the_campaign_waits_in_its_place", { skip }, () =>
  on("#campaigns/3", async ({ campaigns, world, server }) => {
    await see("[data-testid=campaigns-state]", "Active");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=campaigns-waits]").checkVisibility()`), false);
    const approval = { ...world.api["/api/approvals/5"], id: 77, conversation: campaigns.info.campaign.conversation_id };
    Object.assign(world.api, { "/api/approvals/77": approval, "/api/approvals": { approvals: [approval] } });
    server.say({ type: "waiting", approvals: [77] });
    await see("[data-testid=campaigns-waits]", "Installs a new capability");
  }));

/** Chooses a file of these bytes, as a person does. */
const chooseFile = (css, name, bytes) =>
  browser.js(
    `const input = document.querySelector(arguments[0]); const data = new DataTransfer(); data.items.add(new File([new Uint8Array(arguments[2])], arguments[1])); input.files = data.files; input.dispatchEvent(new Event("change", { bubbles: true }))`,
    css,
    name,
    [...bytes],
  );
const pick = (css, value) => browser.js(`const node = document.querySelector(arguments[0]); node.value = arguments[1]; node.dispatchEvent(new Event("change", { bubbles: true }))`, css, value);

test("leads_are_imported_whole_or_refused_by_line_and_get_a_status", { skip }, () =>
  on("#campaigns/3", async ({ campaigns }) => {
    await see("[data-lead='1']", "Ada Lovelace");
    await chooseFile("[data-testid=campaigns-file]", "bad.csv", Buffer.from("name\nx"));
    await see(".campaigns-import .problem", "bad.csv: Nothing was imported.");
    assert.deepEqual(await browser.js(`return [...document.querySelectorAll("[data-testid=campaigns-bad] li")].map((node) => node.textContent.slice(0, 7))`), ["line 2:", "line 5:"]);
    await chooseFile("[data-testid=campaigns-file]", "latin.csv", Buffer.from("full_name,profile_url\nAndr\u00e9,https://example.com/a", "latin1"));
    await see(".campaigns-import .problem", "This file is not UTF-8.");
    await browser.js(`File.prototype.arrayBuffer = () => Promise.reject(new DOMException("A requested file could not be read.", "NotReadableError"))`);
    await chooseFile("[data-testid=campaigns-file]", "gone.csv", Buffer.from("full_name"));
    await see(".campaigns-import .problem", "gone.csv: This file could not be read. Choose it again.");
    await browser.js(`delete File.prototype.arrayBuffer`);
    await chooseFile("[data-testid=campaigns-file]", "people.csv", Buffer.from("full_name,profile_url\nGrace Hopper,https://example.com/grace"));
    await see("[data-testid=campaigns-imported]", "people.csv: 1 leads are new");
    await see("[data-lead='3']", "Grace Hopper");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=campaigns-bad]").hidden && document.querySelector(".campaigns-import .problem").hidden`), true);
    const status = "[data-lead='1'] [data-testid=campaigns-lead-status]";
    await browser.js(`document.querySelector(arguments[0]).focus()`, status);
    await pick(status, "contacted");
    await browser.waitFor(`return document.querySelector(arguments[0]).value === "contacted" && document.querySelector(arguments[0]) === document.activeElement`, status);
    await pick(status, "won");
    await see("[data-testid=campaigns-detail] > div > .problem", "A lead is won by itself.");
    await browser.waitFor(`return document.querySelector(arguments[0]).value === "contacted"`, status);
    assert.deepEqual(campaigns.asked.map((line) => line.split("\n")[0]), ["import name", "import full_name,profile_url", "lead 1 contacted", "lead 1 won"]);
  }));

test("artifacts_are_kept_by_hand_and_a_new_version_begins_with_the_newest", { skip }, () =>
  on("#campaigns/3", async ({ campaigns }) => {
    await see("[data-testid=campaigns-artifacts]", "hello");
    await click("[data-testid=campaigns-artifacts] l3-campaign-part summary");
    await see("[data-testid=campaigns-another]", "Write a new version");
    await click("[data-testid=campaigns-another]");
    await see("[data-testid=campaigns-keep-go]", "Keep");
    const content = "[data-testid=campaigns-keep-content]";
    assert.deepEqual(await browser.js(`const text = document.querySelector(arguments[0]); return [text.value, text === document.activeElement]`, content), ["Good day,\nwould you like to see the flat?\nBest wishes", true]);
    await write(content, "Good day!");
    await click("[data-testid=campaigns-keep-go]");
    await browser.waitFor(`return document.querySelector("[data-testid=campaigns-keep-key]").value === ""`);
    await pick("[data-testid=campaigns-keep-type]", "lead_scoring_config");
    assert.match(await browser.js(`return document.querySelector(arguments[0]).value`, content), /"rules"/);
    await write("[data-testid=campaigns-keep-key]", "No");
    await click("[data-testid=campaigns-keep-go]");
    await see("[data-testid=campaigns-keep] .problem", "key: has to be of small letters");
    await write("[data-testid=campaigns-keep-key]", "score");
    await chooseFile("[data-testid=campaigns-keep-file]", "score.json", Buffer.from('{"rules": []}'));
    await browser.waitFor(`return document.querySelector(arguments[0]).value === '{"rules": []}'`, content);
    await click("[data-testid=campaigns-keep-go]");
    await see("[data-testid=campaigns-artifacts]", "score");
    assert.equal(campaigns.asked[0], "keep message hello Good day!");
    assert.equal(campaigns.asked.at(-1), 'keep lead_scoring_config score {"rules": []}');
  }));

test("an_approval_context_is_given_and_counted_down", { skip }, () =>
  on("#campaigns/3", async ({ campaigns, server }) => {
    await see("[data-context='1']", "3 left, until");
    await click("[data-testid=campaigns-allow] summary");
    await write("[data-testid=campaigns-allow-count]", "60");
    await click("[data-testid=campaigns-allow-go]");
    await see("[data-testid=campaigns-allow] .problem", "1 to 50 can be allowed at once");
    await pick("[data-testid=campaigns-allow-kind]", "persist");
    await pick("[data-testid=campaigns-allow-type]", "message");
    await pick("[data-testid=campaigns-allow-kind]", "script");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=campaigns-allow-type]").checkVisibility()`), false, "a script has no type");
    await write("[data-testid=campaigns-allow-count]", "2");
    await write("[data-testid=campaigns-allow-hours]", "24");
    await click("[data-testid=campaigns-allow-go]");
    await see("[data-context='3']", "2 left, until");
    const left = Date.parse(campaigns.info.contexts.at(-1).until) - Date.now();
    assert.ok(left < 24 * 3_600_000 && left > 23.9 * 3_600_000, String(left));
    campaigns.info.contexts.at(-1).uses_left = 1;
    server.say({ type: "changed", list: "campaigns" });
    await see("[data-context='3']", "1 left, until");
    assert.deepEqual(campaigns.asked, ["allow persist undefined 60", "allow script undefined 2"]);
  }));

test("tasks_are_added_verified_exported_and_messages_let_go", { skip }, () =>
  on("#campaigns/3", async ({ campaigns }) => {
    await see("[data-testid=campaigns-add]", "Add tasks");
    await click("[data-testid=campaigns-add] summary");
    await write("[data-testid=campaigns-add-tasks]", '[{"description": "Look again"}, {"description": ""}]');
    await click("[data-testid=campaigns-add-go]");
    await see("[data-testid=campaigns-add] .problem", "description: is empty");
    await see("[data-testid=campaigns-tasks-list]", "Look again");
    assert.deepEqual(JSON.parse(await browser.js(`return document.querySelector("[data-testid=campaigns-add-tasks]").value`)), [{ description: "" }], "what was made is not made again");
    campaigns.asked.length = 0;
    await click("[data-testid=campaigns-verify]");
    await see("[data-testid=campaigns-record-came]", "The cycle of turn 7 is the first that differs: its rules are others");
    await click("[data-testid=campaigns-verify]");
    await see("[data-testid=campaigns-record-came]", "Nothing differs: 3 requests");
    await browser.js(`window.saved = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => (blob.text().then((text) => saved.push(text)), make.call(URL, blob)); HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }`);
    await click("[data-testid=campaigns-export-events]");
    await see("[data-testid=campaigns-record-came]", "campaign-3-events.json, state c0ffee");
    await browser.waitFor(`return saved.length === 2`);
    const [name, text] = (await browser.js(`return saved`)).toSorted((one) => (one.endsWith(".json") ? -1 : 1));
    assert.deepEqual([name, JSON.parse(text)], ["campaign-3-events.json", { state: { campaign: JSON.parse(JSON.stringify(campaigns.info.campaign)) }, state_sha256: "c0ffee" }]);
    await click("[data-testid=campaigns-forget]");
    await click("[data-testid=confirm]");
    await see("[data-testid=campaigns-record-came]", "4 messages are forgotten.");
    assert.deepEqual(campaigns.asked, ["verify", "verify", "export events", "forget"]);
  }));

test("a_campaign_that_is_over_is_only_shown", { skip }, () =>
  on("#campaigns/3", async ({ campaigns, server }) => {
    await see("[data-lead='1'] select", "Qualified");
    campaigns.info.campaign.status = "completed";
    server.say({ type: "changed", list: "campaigns" });
    await see("[data-testid=campaigns-state]", "Completed");
    const seen = (css) => browser.js(`return [...document.querySelectorAll(arguments[0])].filter((node) => node.checkVisibility()).length`, css);
    for (const css of ["[data-lead] select", "[data-testid=campaigns-import]", "[data-testid=campaigns-keep]", "[data-testid=campaigns-allow]", "[data-testid=campaigns-add]", "[data-task] .campaigns-deeds", "[data-testid=campaigns-answer]"]) assert.equal(await seen(css), 0, css);
    assert.ok((await seen("[data-testid=campaigns-verify]")) === 1);
    await see("[data-lead='1']", "Qualified");
  }));
