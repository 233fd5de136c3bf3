// Tasks and Capabilities in a real browser, with a session of the page and a stand-in for the
// server. Reports what is not as it should be.

import { createSession } from "/core/session.js";
import * as capabilities from "/capabilities/index.js";
import * as tasks from "/tasks/index.js";
import { workServer } from "./work-server.mjs";

let pwned = 0;
globalThis.pwned = () => (pwned += 1);
const { foreign } = document.body.dataset;
const HOSTILE = `<img src=x onerror=pwned()><script>pwned()</script>\u202e${foreign}`;
const DAY = 86_400_000;
const checks = {};
const storage = { getItem: () => null, setItem() {}, removeItem() {} };
const later = (days) => new Date(Date.now() + days * DAY).toISOString();
const old = "2026-01-01T00:00:00Z";

/** Until something is so. The page is told in animation frames, and answers come in tasks of their own. */
async function until(test, what) {
  const end = performance.now() + 10_000;
  while (performance.now() < end) {
    if (test()) return true;
    await new Promise(requestAnimationFrame);
  }
  throw new Error(`never: ${what ?? test}`);
}

function setUp(world) {
  const server = workServer(world);
  const session = createSession({ storage, url: "ws://x/chat", fetch: server.fetch, Socket: server.Socket });
  session.start();
  server.greet();
  const host = document.createElement("main");
  document.body.append(host);
  const said = { announced: [], gone: [], title: "" };
  const context = { session, storage, announce: (text) => said.announced.push(text), go: (place, ...parts) => (said.gone.push([place, ...parts].join("/")), place === "tasks" && tasks.show(parts)), setTitle: (text) => (said.title = text), setLead() {}, isShown: () => true };
  const find = (css) => document.querySelector(css);
  return { server, session, host, context, said, find };
}

const key = (name, more = {}) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...more }));
const focusedTask = () => document.activeElement.closest("l3-task")?.dataset.task;
const toasts = () => [...document.querySelectorAll(".toast")].map((node) => node.textContent).join();
const clearToasts = () => document.querySelectorAll(".toast").forEach((node) => node.remove());

async function tryTasks() {
  const task = (id, title, days, more = {}) => ({ id, title, details: "", status: "pending", due_at: days === null ? null : later(days), conversation: 1, created_at: old, updated_at: old, ...more });
  const all = [task(1, "Water", -1), task(2, HOSTILE, null), task(3, "Plan", 40), task(4, "Paint", 41), task(5, "Sent", null, { status: "done" })];
  const page = setUp({ tasks: all });
  const { server, find, host, said } = page;
  await tasks.mount(host, page.context);
  checks.nothing_is_said_to_be_empty_before_the_server_said_so = find("[data-testid=empty]").hidden;
  tasks.show([]);
  await until(() => host.querySelectorAll("l3-task").length === 5, "five tasks");
  const group = (id) => find(`[data-task="${id}"]`)?.closest("[data-group]")?.dataset.group;
  checks.tasks_stand_in_their_groups = [1, 2, 3, 5].map(group).join() === "overdue,undated,later,done";
  checks.one_task_is_reached_with_tab = host.querySelectorAll('l3-task [data-part=box][tabindex="0"]').length === 1;
  find('[data-task="1"] [data-part=box]').focus();
  key("ArrowDown");
  checks.arrows_go_from_task_to_task = focusedTask() === "3";
  key("ArrowRight", { shiftKey: true });
  await until(() => server.asked.includes("PATCH /api/tasks/3") && !find("[data-saving]"), "task 3 is moved");
  checks.shift_and_an_arrow_move_a_task_by_a_day = new Date(all[2].due_at).getDate() === new Date(later(41)).getDate();
  checks.the_focus_stays_on_what_was_moved = focusedTask() === "3";
  const presses = async (name) => {
    for (let count = 0; count < 3; count++) key(name, { shiftKey: true });
    await until(() => !find("[data-saving]"), "task 3 is moved three times");
    return new Date(all[2].due_at).getDate();
  };
  checks.presses_in_quick_succession_all_count = (await presses("ArrowRight")) === new Date(later(44)).getDate() && (await presses("ArrowLeft")) === new Date(later(41)).getDate();
  document.activeElement.click();
  await until(() => group(3) === "done" && toasts() !== "", "task 3 is done");
  checks.a_ticked_task_leaves_the_focus_on_the_next_one = focusedTask() === "4";
  find(".toast button").click();
  await until(() => group(3) === "later" && !find("[data-saving]"), "task 3 is back");
  checks.a_tick_can_be_undone = all[2].status === "pending";
  clearToasts();
  find('[data-task="3"] [data-part=title]').focus();
  key(" ");
  await until(() => group(3) === "done" && toasts() !== "", "task 3 is done by a key");
  checks.space_on_a_title_ticks_and_opens_nothing = focusedTask() === "4" && document.activeElement.dataset.part === "title" && find("[data-testid=task-form]") === null;
  find(".toast button").click();
  await until(() => group(3) === "later" && !find("[data-saving]"), "task 3 is back once more");
  document.activeElement.blur();
  key("n");
  checks.n_goes_to_the_line_that_adds = document.activeElement.dataset.testid === "task-new";
  document.activeElement.value = "Buy milk";
  find("[data-testid=task-add]").click();
  await until(() => [...host.querySelectorAll("[data-group=undated] .task-title")].some((node) => node.textContent === "Buy milk"), "a new task");
  checks.a_task_is_added_and_the_focus_stays = document.activeElement.dataset.testid === "task-new" && document.activeElement.value === "";
  await until(() => said.announced.some((text) => text.includes("Buy milk")), "it is told");

  clearToasts();
  server.will.state = "failed";
  find('[data-task="1"] [data-part=box]').click();
  const refusal = () => find(".task-refusal").textContent;
  await until(() => refusal().includes("The rules do not allow it."), "a refusal is told");
  checks.a_refused_change_is_taken_back = group(1) === "overdue" && !find('[data-task="1"] [data-part=box]').checked;
  clearToasts();
  const before = server.asked.filter((path) => path.startsWith("PATCH")).length;
  find(".task-refusal button").click();
  await until(() => server.asked.filter((path) => path.startsWith("PATCH")).length > before && !find("[data-saving]"), "it is tried again");
  checks.a_refusal_stays_and_can_be_tried_again = refusal().includes("The rules do not allow it.");
  const adding = find("[data-testid=task-new]");
  adding.value = "Refused";
  find("[data-testid=task-add]").click();
  await until(() => adding.value === "Refused" && refusal().includes("Refused"), "a refused task is in its form again");
  checks.a_refused_task_is_offered_in_its_form_alone = !find(".task-refusal button");
  adding.value = "";
  adding.dispatchEvent(new Event("input", { bubbles: true }));
  server.will.state = "waits";
  find('[data-task="1"] [data-part=box]').click();
  await until(() => find(".toast button"), "a question is told");
  find(".toast button").click();
  checks.a_change_that_waits_for_approval_leads_there = said.gone.includes("chat/1") && group(1) === "overdue";
  server.will.state = "done";

  const title = find('[data-task="1"] [data-part=title]');
  title.focus();
  title.click();
  const form = find("[data-testid=task-form]");
  form.querySelector("[name=title]").value = "Water all";
  form.querySelector("[data-testid=task-save]").click();
  await until(() => find('[data-task="1"] .task-title').textContent === "Water all" && !find("[data-saving]"), "a new title");
  checks.a_task_is_edited_and_the_focus_goes_back_to_it = focusedTask() === "1";
  checks.titles_are_text = pwned === 0 && host.querySelector("img, script") === null && find('[data-task="2"] .task-title').textContent === HOSTILE;
  tasks.show(["1"]);
  await until(() => find("[data-testid=task-form]"), "the task that the address names");
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }));
  checks.an_address_opens_a_task_and_escape_closes_it = find("[data-testid=task-form]") === null;
  tasks.show(["99"]);
  await until(() => refusal().includes("99"), "a task that is not there");
  checks.a_task_that_is_not_there_is_said = true;
  tasks.show(["week"]);
  // Yesterday may belong to the week before.
  const place = find('[data-task="1"]').closest(".week-day, [data-group=overdue]");
  checks.a_week_shows_days_and_what_is_from_before = place !== null && host.querySelectorAll(".week-day").length === 7 && group(2) === "undated";
  const [oneDay, wholeWeek] = [find(".one-day"), find(".whole-week")];
  const isNarrow = matchMedia("(max-width: 40rem)").matches;
  checks.a_week_and_its_one_day_each_have_a_heading = oneDay.textContent !== wholeWeek.textContent && oneDay.checkVisibility() === isNarrow && wholeWeek.checkVisibility() !== isNarrow;
  checks.a_task_stands_in_the_page_once = host.querySelectorAll('[data-task="1"]').length === 1;
  checks.the_heartbeat_says_what_it_did_and_does_next = find("[data-testid=heartbeat-next]").textContent.includes("Water") && find("[data-testid=heartbeat-did]").textContent.includes("fell due");

  tasks.show([]);
  server.will.state = "waits";
  clearToasts();
  find('[data-task="4"] [data-part=box]').focus();
  key("Delete");
  await until(() => toasts() !== "" && !find("[data-saving]"), "a question is told");
  checks.a_deletion_that_the_law_asks_about_is_not_shown_as_done = find('[data-task="4"]') !== null && !toasts().includes("Deleted");
  server.will.state = "done";
  clearToasts();
  find('[data-task="4"] [data-part=menu]').click();
  find(".menu .danger").click();
  await until(() => !find('[data-task="4"]') && toasts().includes("Paint"), "task 4 is deleted");
  checks.a_deleted_task_leaves_the_focus_on_another = focusedTask() !== undefined;
  find(".toast button").click();
  await until(() => [...host.querySelectorAll(".task-title")].some((node) => node.textContent === "Paint") && !find("[data-saving]"), "task 4 is made again");
  checks.a_deleted_task_can_be_made_again = all.find(({ title }) => title === "Paint").due_at !== null;

  all.splice(all.findIndex(({ id }) => id === 2), 1);
  server.tell({ type: "changed", list: "tasks" });
  await until(() => !find('[data-task="2"]'), "a task that was deleted elsewhere is gone");
  checks.what_changes_in_another_conversation_is_seen = true;
  server.will.fails = true;
  page.session.lists.load("tasks");
  await until(() => find("[role=alert].error-state"), "a failure is told");
  checks.a_failure_is_told_and_what_was_there_stays = find('[data-task="1"]') !== null;
  server.will.fails = false;
  find(".error-state button").click();
  await until(() => !find(".error-state"), "it is tried again");
  checks.a_failure_has_a_way_on = true;
  tasks.unmount();
  host.remove();
}

async function tryCapabilities() {
  const parameters = { type: "object", properties: { n: { type: "integer", minimum: 1, description: HOSTILE }, all: { type: "array", items: { type: "string" } }, some: { type: "array", items: { type: "string" }, minItems: 2 } }, required: ["n"] };
  const all = [{ name: "roman", version: 2, state: "installed", description: `${HOSTILE}. Use it when the user asks.`, grants: {}, grants_in_words: [HOSTILE], parameters, calls: { calls: 12, failures: 0, p50_ms: 4, per_day: [0, 3, 9], last_error: null } }];
  const page = setUp({ capabilities: all });
  const { server, find, host } = page;
  await capabilities.mount(host, page.context);
  capabilities.show([]);
  await until(() => find("[data-capability=roman]"), "the gallery");
  checks.a_card_leads_to_its_address = find("[data-capability=roman] a").getAttribute("href") === "#capabilities/roman";
  const line = find("[data-capability=roman] .spark polyline");
  const drawn = line.getBoundingClientRect();
  checks.the_calls_of_30_days_are_a_small_line = line.getAttribute("points") === "0,24 60,16 120,0" && drawn.width > 20 && drawn.height > 10 && !["none", ""].includes(getComputedStyle(line).stroke) && getComputedStyle(line).fill === "none";
  all.push({ name: "born", version: 1, state: "installed", description: "New: `n` goes in. Use it when the user asks.", grants: {}, grants_in_words: [] });
  server.tell({ type: "changed", list: "capabilities" });
  await until(() => find("[data-capability=born]"), "one that was written elsewhere");
  checks.a_new_one_appears_by_itself = true;
  checks.a_card_says_what_it_does_and_not_when_to_call_it = find("[data-capability=born] .capability-said").textContent === "New: n goes in.";
  await until(() => find("[data-name=feed]"), "what comes with level3");
  const inCode = [...document.querySelectorAll(".capability-said code")].map((node) => node.textContent);
  checks.names_in_descriptions_are_set_as_code = ["n", "json"].every((name) => inCode.includes(name));
  server.will.state = "waits";
  find("[data-name=feed]").click();
  await until(() => find("[data-testid=outcome][data-state=waits] a"), "an approval waits");
  checks.what_needs_approval_leads_there = find("[data-testid=outcome] a").getAttribute("href") === "#chat/1";
  server.will.state = "done";
  File.prototype.text = () => Promise.reject(new DOMException("A requested file could not be read.", "NotReadableError"));
  const chosen = new DataTransfer();
  chosen.items.add(new File(["{}"], "gone.json"));
  find("[data-testid=import-file]").files = chosen.files;
  find("[data-testid=import-file]").dispatchEvent(new Event("change"));
  await until(() => find("[data-testid=outcome][data-state=failed]"), "a file that cannot be read");
  checks.a_file_that_cannot_be_read_is_said = find("[data-testid=outcome]").textContent.includes("The file could not be read; nothing was imported.");
  delete File.prototype.text;
  const bring = (...files) => {
    const chosen = new DataTransfer();
    for (const [name, text] of files) chosen.items.add(new File([text], name));
    find("[data-testid=import-file]").files = chosen.files;
    find("[data-testid=import-file]").dispatchEvent(new Event("change"));
  };
  const isThere = (name) => until(() => find(`[data-capability=${name}]`) && find("[data-testid=outcome][data-state=done]")?.textContent.includes(`${name} is live.`), `${name} is there`);
  const folder = { "capability.json": '{"name":"brought"}', "source.js": "let b = 2;" };
  bring(...Object.entries(folder));
  await isThere("brought");
  bring(["whole.json", JSON.stringify({ ...folder, "capability.json": { name: "exported" } })]);
  await isThere("exported");
  checks.a_folder_is_imported_from_its_files_or_from_the_one_of_export = JSON.stringify(server.imported) === JSON.stringify([folder, { ...folder, "capability.json": { name: "exported" } }]);
  const install = () => find("[data-name=feed]");
  install().focus();
  install().click();
  await isThere("feed");
  await until(() => install().textContent === "Install again", "it is known to be installed");
  checks.what_comes_with_level3_is_installed_and_says_its_version = install().closest("li").textContent.includes("version 1 is installed") && document.activeElement === install();

  capabilities.show(["roman"]);
  await until(() => find("[data-testid=schema-form]"), "the form");
  const forAssistant = [...document.querySelectorAll("[role=tab]")].find((tab) => tab.textContent === "For the assistant");
  checks.what_is_said_to_the_assistant_stands_apart = forAssistant !== undefined;
  checks.the_name_is_the_title = page.said.title === "roman";
  const field = (name) => find(`[data-field=${name}]`);
  const send = find("[data-testid=schema-submit]");
  send.click();
  await until(() => field("n").querySelector(".wrong:not([hidden])"), "what is wrong");
  checks.what_is_wrong_is_said_and_gets_the_focus = document.activeElement === field("n").querySelector("input") && document.activeElement.getAttribute("aria-invalid") === "true";
  checks.nothing_wrong_is_sent = !server.asked.some((path) => path.includes("/call"));
  document.activeElement.value = "7";
  field("all").querySelector("button").click();
  document.activeElement.value = HOSTILE;
  send.click();
  await until(() => find("[data-testid=try-result] [data-testid=outcome][data-state=done]"), "the outcome");
  const result = find("[data-testid=try-result]").textContent;
  checks.a_list_that_may_be_left_out_begins_without_entries = field("some").querySelector(".list-row") === null && field("some").querySelector(".wrong").hidden;
  checks.the_result_and_the_log_are_shown = result.includes('"n": 7') && result.includes("a line") && result.includes("roman was called.");
  server.will.state = "unknown";
  send.click();
  await until(() => find("[data-testid=outcome][data-state=unknown]"), "an outcome nobody knows");
  checks.unknown_is_not_failed = true;
  Object.assign(server.will, { state: "failed", fault: { message: "it is odd", line: 2 } });
  send.click();
  await until(() => find("[data-testid=try-result] .fault"), "the fault");
  checks.a_fault_is_told_in_the_words_that_are_for_a_person = find("[data-testid=try-result] .fault").textContent === "it is odd (line 2)";
  Object.assign(server.will, { state: "done", fault: undefined });

  const tab = (text) => [...document.querySelectorAll("[role=tab]")].find((node) => node.textContent.startsWith(text));
  tab("Source").click();
  checks.what_cannot_be_seen_in_a_source_is_written_out = find("[data-testid=source]").textContent.includes("U+202E");
  tab("Versions").click();
  await until(() => find("[data-testid=diff] ins"), "the differences");
  checks.versions_have_addresses = find('[data-version="1"] a').getAttribute("href") === "#capabilities/roman/v1";
  tab("Tests").click();
  find("[data-action=test]").click();
  await until(() => find("[data-testid=test-sum]").textContent.includes("1 of 2"), "the tests");
  checks.a_test_says_why_it_fails = find(".test-list").textContent.includes("no such number");
  find("[data-action=toggle]").focus();
  find("[data-action=toggle]").click();
  await until(() => find("[data-testid=capability-detail][data-enabled=false]"), "it is disabled");
  checks.a_switch_keeps_the_focus = document.activeElement.dataset.action === "toggle";
  find("[data-action=toggle]").click();
  await until(() => find("[data-testid=capability-detail][data-enabled=true]"), "it is enabled");

  let saved;
  const { createObjectURL } = URL;
  URL.createObjectURL = (blob) => ((saved = { blob }), "blob:nowhere");
  addEventListener("click", (event) => event.target.matches("a[download]") && (event.preventDefault(), (saved.name = event.target.download)), { capture: true });
  find("[data-action=export]").click();
  await until(() => saved?.name, "a file is saved");
  URL.createObjectURL = createObjectURL;
  checks.export_saves_the_whole_folder_in_one_file = saved.name === "roman-v2.json" && saved.blob.type === "application/json" && JSON.stringify(JSON.parse(await saved.blob.text())) === '{"capability.json":{"name":"roman","version":2},"source.js":"let a = 1;"}';

  find("[data-action=rollback]").click();
  await until(() => find("dialog [data-testid=confirm]"), "a question");
  dispatchEvent(new HashChangeEvent("hashchange"));
  await until(() => find("dialog") === null, "it is closed");
  checks.a_question_is_closed_when_its_place_is_left = all[0].version === 2;
  find("[data-action=rollback]").focus();
  find("[data-action=rollback]").click();
  find("[data-testid=confirm]").click();
  await until(() => find("dialog .grant-list"), "the second question");
  checks.a_version_that_may_do_more_says_what_first = find("dialog .grant-list").textContent.includes("a.example") && all[0].version === 2;
  find("dialog .grant-list").closest("dialog").querySelector("[data-testid=confirm]").click();
  await until(() => find(".detail-head .version").textContent === "v1", "version 1 is live");
  checks.it_is_rolled_back = all[0].version === 1;
  checks.the_focus_goes_on_from_the_heading_if_its_button_is_gone = document.activeElement === find(".detail-head h2");

  // Somebody else makes another version live while a person reads or fills in.
  find("[data-field=n] input").value = "9";
  all[0].version = 2;
  server.tell({ type: "capability", name: "roman", version: 2, enabled: true });
  await until(() => find(".capability-detail .order-line button"), "a new version is told");
  checks.what_is_filled_in_stays_when_a_version_comes = find("[data-field=n] input").value === "9";
  capabilities.show(["roman", "v1"]);
  await until(() => find("[data-testid=capability-state]")?.textContent.includes("version 2"), "version 1");
  checks.an_old_version_cannot_be_called = find("[data-testid=schema-form]") === null;
  capabilities.show(["roman", "latest"]);
  checks.an_address_that_names_no_version_says_so = find("[data-testid=capability-detail] .empty-state") !== null && find("[data-testid=capability-state]") === null;
  capabilities.show(["nobody"]);
  await until(() => find(".error-state"), "an unknown one");
  checks.one_that_is_not_there_is_said = find(".error-state").textContent.includes("nobody");
  checks.names_and_words_are_text = pwned === 0 && host.querySelector("img, script") === null;
  capabilities.unmount();
}

const errors = [];
addEventListener("error", (event) => errors.push(event.message));
addEventListener("unhandledrejection", (event) => errors.push(String(event.reason?.stack ?? event.reason)));
let failure;
try {
  await tryTasks();
  await tryCapabilities();
} catch (error) {
  failure = String(error.stack);
}
await fetch("/report", { method: "POST", body: JSON.stringify({ failure, checks, errors }) });
