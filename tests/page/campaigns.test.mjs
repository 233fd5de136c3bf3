// The place of campaigns: the list, one campaign with all that it has, and the sign that somebody is there.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cyclesOf, effectWords, safeAddress, steps, tasksOf } from "../../static/campaigns/rows.js";
import { campaignsApi } from "../../static/core/api-campaigns.js";
import { lineDiff } from "../../static/core/line-diff.js";
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
  await api.revokeContext(3, 1);
  await api.changeCampaignTask(3, 2, "block", "later");
  assert.deepEqual(asked, [
    ["GET", "/api/campaigns/3/artifacts/message/a.b"],
    ["GET", "/api/campaigns/3/log?log=audit&limit=200&kind=answer+refused"],
    ["DELETE", "/api/campaigns/3/contexts/1"],
    ["POST", "/api/campaigns/3/tasks/2", { deed: "block", reason: "later" }],
  ]);
});

test("a_campaign_is_steered_only_as_its_state_allows", () => {
  const all = { initializing: "start copy", active: "pause copy", paused: "resume copy", completed: "copy", error: "copy" };
  for (const [status, deeds] of Object.entries(all)) assert.equal(steps({ status }).join(" "), deeds, status);
});

test("tasks_are_lines_or_json", () => {
  assert.deepEqual(tasksOf("- Keep a note\n\n  Draft a message "), [{ description: "Keep a note" }, { description: "Draft a message" }]);
  assert.deepEqual(tasksOf('{"tasks": [{"description": "a"}]}'), [{ description: "a" }]);
  assert.deepEqual(tasksOf('[{"description": "a"}]'), [{ description: "a" }]);
  assert.deepEqual(tasksOf(" "), []);
  assert.throws(() => tasksOf("[{"), SyntaxError);
});

test("a_cycle_has_what_was_refused_proposed_done_and_proven", () => {
  const { answers } = campaignWorld((later) => new Date(later).toISOString());
  const logOf = (log) => answers["/api/campaigns/3/log"]({ search: new URLSearchParams({ log }) });
  const [running, ended] = cyclesOf(logOf("events"), logOf("audit"));
  assert.deepEqual([running.turn, running.requests, running.ended, running.evidence], [8, 1, undefined, []]);
  assert.deepEqual([ended.turn, ended.requests, ended.proposal, ended.came, ended.refused.length, ended.calls[0].verdict], [7, 2, "persist_artifact", "kept the heuristic note", 1, "approved by a person"]);
  assert.deepEqual(ended.evidence, [{ task: 1, effect: { kind: "artifact_exists", type: "heuristic", key: "note" }, events: [12] }]);
  assert.equal(effectWords(ended.evidence[0].effect), "artifact_exists type=heuristic key=note");
});

test("a_link_leads_to_the_web_and_nowhere_else", () => {
  assert.equal(safeAddress("https://example.com/a"), "https://example.com/a");
  for (const text of ["javascript:alert(1)", "data:text/html,x", " https://example.com", ""]) assert.equal(safeAddress(text), undefined, text);
});

test("a_diff_has_every_line_of_both_texts_in_order", () => {
  assert.equal(lineDiff("a", "a"), "");
  assert.equal(lineDiff("a\nb\nc", "a\nx\nc"), "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c");
  let seed = 7;
  const random = (most) => (seed = (seed * 48_271) % 2_147_483_647) % most;
  const text = () => Array.from({ length: 1 + random(9) }, () => "abc"[random(3)]).join("\n");
  for (let turn = 0; turn < 500; turn += 1) {
    const [before, after] = [text(), text()];
    const lines = lineDiff(before, after).split("\n").slice(1);
    if (before === after) continue;
    const kept = (sign) => lines.filter((line) => line[0] !== sign).map((line) => line.slice(1)).join("\n");
    assert.deepEqual([kept("+"), kept("-")], [before, after]);
  }
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
  on("#campaigns", async () => {
    await see("[data-campaign='3']", "Active");
    await see("[data-campaign='3']", "the question tone waits for an answer");
    await see("[data-campaign='2']", "does not fit its sha256");
    await see("[data-campaign='1']", "<img src=x onerror=alert(1)>");
    await see("[data-testid=campaigns]", "LinkedIn");
    await click("[data-campaign='3'] a");
    await see("[data-testid=campaigns-state]", "Active");
    assert.equal(await browser.js("return location.hash"), "#campaigns/3");
    await click("[data-testid=campaigns-back]");
    await see("[data-testid=campaigns-list]", "Spring fair");
  }));

test("a_campaign_is_made_of_lines_and_what_is_refused_stays", { skip }, () =>
  on("#campaigns", async ({ campaigns }) => {
    await see("[data-testid=campaigns-make]", "Make a campaign");
    await click("[data-testid=campaigns-make]");
    await see(".campaigns-form .wrong:not([hidden])", "Give it a name.");
    await write("[data-testid=campaigns-name]", "Summer fair");
    for (const [tasks, wrong] of [["[{", "This is no JSON."], ['[{"description": "a", "requires": "x"}]', "tasks[0].requires"]]) {
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
    await click("[data-testid=campaigns-pause]");
    await see("[data-testid=campaigns-state]", "Paused");
    await click("[data-testid=campaigns-resume]");
    await see("[data-testid=campaigns-state]", "Active");
    await click("[data-testid=campaigns-copy]");
    await see("[data-testid=campaigns-state]", "Not started");
    assert.deepEqual(campaigns.asked, ["pause", "resume", "copy"]);
    await click("[data-testid=campaigns-start]");
    await see("[data-testid=campaigns-detail] .problem", "no model answers");
  });
  await on("#campaigns/99", () => see("[data-testid=campaigns-detail] .error-state", "Campaign 99 could not be opened."));
});

test("tasks_show_what_is_unproven_and_take_answers_and_deeds", { skip }, () =>
  on("#campaigns/3", async ({ campaigns }) => {
    await see("[data-task='1']", "artifact_exists type=heuristic key=note min_version=1 (by events 12)");
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
    await see("[data-lead='1'] details", "Sum 120, kept within the bounds: 100");
    assert.equal(await browser.js(`return document.querySelector("[data-lead='2'] a")`), null, "a script is no address");
    await click("[data-testid=campaigns-artifacts] summary");
    await see("[data-testid=campaigns-artifacts] .diff", "would you like to see the flat?");
    assert.deepEqual(await browser.js(`return [...document.querySelectorAll("[data-testid=campaigns-artifacts] .diff-line")].map((node) => node.className.split(" ")[1])`), ["place", "same", "remove", "add", "same"]);
    await see("[data-testid=campaigns-cycles] [data-turn='7']", "approved by a person");
    await see("[data-turn='7']", "two proposals; make exactly one");
    await see("[data-turn='7']", "Task 1: artifact_exists type=heuristic key=note, by events 12");
    await see("[data-turn='8']", "under way");
    await see("[data-context='1']", "3 left, until");
    await see("[data-context='2']", "No longer counts");
    await click("[data-testid=campaigns-revoke]");
    await see("[data-context='1']", "No longer counts");
    assert.deepEqual(campaigns.asked, ["revoke 1"]);
    const kinds = () => browser.js(`return [...document.querySelectorAll("[data-testid=campaigns-logs] l3-campaign-part")].map((node) => node.dataset.kindOfLine).join()`);
    assert.equal(await kinds(), "persist_artifact,model request");
    const choose = (name, value) => browser.js(`const node = document.querySelector("[data-testid=filter-" + arguments[0] + "]"); node.value = arguments[1]; node.dispatchEvent(new Event("change", { bubbles: true }))`, name, value);
    await choose("log", "events");
    assert.equal((await kinds()).split(",").length, 6);
    await choose("kind", "cycle_ended");
    assert.equal(await kinds(), "cycle_ended");
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

test("an_approval_of_the_campaign_waits_in_its_place", { skip }, () =>
  on("#campaigns/3", async ({ campaigns, world, server }) => {
    await see("[data-testid=campaigns-state]", "Active");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=campaigns-waits]").checkVisibility()`), false);
    const approval = { ...world.api["/api/approvals/5"], id: 77, conversation: campaigns.info.campaign.conversation_id };
    Object.assign(world.api, { "/api/approvals/77": approval, "/api/approvals": { approvals: [approval] } });
    server.say({ type: "waiting", approvals: [77] });
    await see("[data-testid=campaigns-waits]", "Installs a new capability");
  }));
