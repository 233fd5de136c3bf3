// Runs in the browser, for `site.test.mjs`: Approvals, Activity and Settings with a server of the
// test's own, tried as a person does.

import * as activity from "/activity/index.js";
import * as inbox from "/approvals/index.js";
import { siteApi } from "/core/api-site.js";
import { todoApi } from "/core/api-todo.js";
import { createStore } from "/core/store.js";
import { initialWorkspace, reduceWorkspace } from "/core/workspace.js";
import * as settings from "/settings/index.js";
import { FORBIDDEN_ELEMENTS, HOSTILE } from "./hostile.mjs";
import * as told from "./site-fixtures.mjs";

let pwned = 0;
window.pwned = () => (pwned += 1);
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
async function until(check, what) {
  for (let tries = 0; tries < 600; tries++) {
    if (check()) return;
    await wait(25);
  }
  throw new Error(`never happened: ${what}`);
}

/** A session over a server whose answers `text` stands in. `asked` is all that was asked; `fails` holds what is refused. */
function createSession(text) {
  const store = createStore({ initial: initialWorkspace(), reducer: reduceWorkspace, schedule: queueMicrotask });
  const asked = [];
  const fails = new Map();
  const newer = { name: "LEVEL3_NEWER", value: null, origin: "default", on_page: true, can_change: true, waits: false, next: null };
  const site = { settings: [...told.settings(text), newer] };
  const answers = {
    list: async (kind) => ({ decisions: told.approvals(text), usage: told.usage(text), secrets: told.secrets(text), capabilities: [{ name: text }] })[kind],
    conversations: async (after) => ({ conversations: after === "p2" ? [{ id: 12, title: text }] : [], next: null }),
    events: async ({ before }) => told.events(text, before ? null : 5),
    replay: async () => told.replay(text),
    policy: async (profile) => told.policy(profile, text),
    settings: async () => site,
    changeSettings: async (changes) => ({ settings: site.settings.map((each) => (each.name in changes ? { ...each, waits: true, next: changes[each.name] } : each)) }),
    models: async () => told.models(text),
    testModel: async () => told.tested(text),
    rates: async () => ({ rates: { [text]: { input_micros: 400_000, output_micros: 0 } } }),
    setRate: async (model, rate) => ({ rates: { [model]: rate } }),
    backup: async () => ({ file: text, said: text }),
    checkRecords: async () => ({ clean: false, events: 9, broken: [{ conversation: 7, sequence: 3, what: text }], differences: [{ table: text, row: text, column: null }], more: true }),
    mcpServers: async () => ({ servers: told.servers(text) }),
    mcpTools: async () => told.tools(text),
    listMcp: async () => told.tools(text),
    me: async () => ({ ...told.user(text), signed_in: true }),
    sessions: async () => ({ sessions: [{ id: 1, client: text, used_at: text, current: false }] }),
    users: async () => ({ users: [told.user(text)] }),
    tiers: async () => ({ tiers: [{ tier: text, messages_per_day: 1, voice_minutes_per_month: null }] }),
  };
  const answer = (name) => async (...given) => {
    asked.push([name, ...given]);
    // A sentence, or the fault of a field.
    const fault = fails.get(name);
    if (fault) throw Object.assign(new Error(fault.says ?? fault), fault.says && { at: fault });
    return answers[name]?.(...given) ?? {};
  };
  const api = Object.fromEntries(["list", ...Object.keys(siteApi()), ...Object.keys(todoApi())].map((name) => [name, answer(name)]));
  const load = async (kind) => {
    try {
      store.dispatch({ type: "@list", kind, entries: await api.list(kind) });
    } catch (error) {
      store.dispatch({ type: "@list", kind, error: error.message });
    }
  };
  const decided = [];
  const session = { store, api, lists: { load }, look: () => {}, decide: (detail) => decided.push(detail) };
  store.dispatch({ type: "hello", version: "0.3.0", conversation: 1, conversations: { builder: 1 }, last_seq: 4, model: { kind: "configured", provider: text, name: text }, safe_mode: false });
  store.dispatch({ type: "@connection", status: "connected", failures: 0, retryAt: null });
  store.dispatch({ type: "@list", kind: "conversations", entries: { conversations: [{ id: 7, title: text }], next: "p2" } });
  return { session, asked, fails, decided };
}

async function open(place, session, parts) {
  document.body.replaceChildren();
  const host = Object.assign(document.createElement("section"), { className: "place" });
  host.dataset.place = place === inbox ? "approvals" : place === settings ? "settings" : "activity";
  document.body.append(host);
  await place.mount(host, { session, announce: () => {} });
  place.show(parts);
  return host;
}

const find = (host, testid) => host.querySelector(`[data-testid="${testid}"]`);
const change = (field, value) => {
  field.value = value;
  for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
};

async function inInbox() {
  const checks = {};
  const { session, decided } = createSession("weather");
  const host = await open(inbox, session, ["8"]);
  checks.nothing_is_called_undecided_before_the_server_said_so = find(host, "decisions").previousElementSibling.hidden;
  await until(() => host.querySelectorAll("l3-approval").length === 2, "both that wait are shown");
  await until(() => document.activeElement.matches("l3-approval h2"), "the one that the address names is gone to");
  checks.the_focus_is_on_a_heading_and_no_button = document.activeElement.closest("l3-approval").dataset.approval === "8";
  checks.it_says_where_it_waits = host.querySelector(".approval-where").getAttribute("href") === "#chat/7" && host.querySelector(".approval-where").textContent.includes("weather");
  checks.no_word_is_offered_here = host.querySelector("[data-testid=approval-words]").textContent === "";
  const lines = [...find(host, "decisions").children].map((line) => line.textContent);
  checks.who_decided_and_how_is_said = lines.length === 2 && lines[0].includes("with a word in the conversation") && lines[1].includes("on this page");
  host.querySelector("l3-approval[data-approval='8'] form").requestSubmit();
  checks.a_decision_goes_out = JSON.stringify(decided) === '[{"approval":8,"decision":"deny"}]';
  document.activeElement.closest("l3-approval").querySelector("input").focus();
  session.store.dispatch({ type: "@list", kind: "decisions", entries: told.approvals("weather").filter(({ id }) => id !== 8) });
  await until(() => host.querySelectorAll("l3-approval").length === 1, "the decided one leaves");
  checks.who_decided_by_keyboard_goes_on_from_the_heading = document.activeElement.matches("h2:not(l3-approval h2)");
  session.store.dispatch({ type: "error", content: "This approval was decided already." });
  await until(() => document.querySelector(".toast")?.textContent.includes("decided already"), "a refused decision is said");
  inbox.show(["4"]);
  const named = host.querySelector("[data-decided='4'] details");
  checks.an_address_opens_one_that_was_decided = named.open && document.activeElement === named.querySelector("summary");
  inbox.show(["99"]);
  checks.an_approval_that_is_not_there_is_said = host.textContent.includes("it may be an older one");
  inbox.show([]);
  checks.and_no_longer_when_it_is_left = !host.textContent.includes("it may be an older one");
  inbox.unmount();
  return checks;
}

async function inEvents() {
  const checks = {};
  const { session, asked, fails } = createSession("weather");
  const host = await open(activity, session, []);
  const rows = () => host.querySelectorAll(".event").length;
  await until(() => rows() === 13, "the events");
  checks.titles_of_conversations_are_named = host.querySelector("[data-conversation]").textContent === "weather";
  checks.a_limit_that_ended_a_turn_has_its_button_to_its_profile = find(host, "raise-limit").getAttribute("href") === "#settings/budgets/turn.steps/lea";
  const way = (kind) => host.querySelector(`[data-kind=${kind}] .event-foot a`).getAttribute("href");
  checks.what_happened_in_the_conversation_of_an_instance_leads_to_relay = way("turn_queued") === "#relay/4" && way("turn_started") === "#chat/7";
  checks.nothing_is_new_at_first = find(host, "events-news").hidden;
  [...host.querySelectorAll("button")].find((each) => each.textContent === "Show older").click();
  await until(() => rows() === 26, "older ones");
  checks.older_ones_are_asked_for_by_the_place_of_the_last = asked.at(-1)[1].before === 5;
  change(find(host, "filter-kind"), "turn_ended");
  await until(() => rows() === 13, "the filter begins anew");
  checks.a_filter_is_asked_of_the_server = asked.at(-1)[1].kind === "turn_ended" && asked.at(-1)[1].before === undefined;
  fails.set("events", "The server cannot be reached.");
  change(find(host, "filter-outcome"), "failed");
  await until(() => host.querySelector("[role=alert]")?.textContent.includes("cannot be reached"), "a failure is said");
  fails.clear();
  host.querySelector("[role=alert] button").click();
  await until(() => rows() === 13, "and tried again");
  checks.what_was_chosen_is_kept_over_a_failure = asked.at(-1)[1].outcome === "failed";
  session.store.dispatch({ type: "turn", conversation: 1, seq: 5, turn: 9, state: "queued", origin: "message", content: "x" });
  await until(() => !find(host, "events-news").hidden, "something is new");
  checks.what_is_read_is_not_moved = rows() === 13;
  const filter = find(host, "filter-conversation");
  const offered = () => [...filter.options].map(({ value }) => value).join();
  checks.more_conversations_are_offered = offered() === ",7,more";
  const before = asked.filter(([name]) => name === "events").length;
  change(filter, "more");
  await until(() => offered() === ",7,12", "the next page of conversations");
  checks.to_see_more_conversations_filters_nothing = filter.value === "" && asked.filter(([name]) => name === "events").length === before;
  change(filter, "12");
  await until(() => asked.at(-1)[1]?.conversation === "12", "one of them is filtered by");
  change(filter, "7");
  await until(() => asked.at(-1)[1]?.conversation === "7", "one of the first page is filtered by");
  session.store.dispatch({ type: "@list", kind: "conversations", entries: { conversations: [{ id: 13, title: "Newer" }], next: "p2" } });
  await until(() => offered().startsWith(",13,"), "a newer one takes its place");
  checks.the_conversation_that_is_filtered_by_stays_chosen = filter.value === "7";
  activity.unmount();
  return checks;
}

async function inReplay() {
  const checks = {};
  const { session } = createSession("weather");
  const host = await open(activity, session, ["turn", "3"]);
  await until(() => find(host, "replay-range"), "the turn");
  const range = find(host, "replay-range");
  const said = () => find(host, "replay-event").textContent;
  const facts = () => find(host, "replay-facts").textContent;
  const [back, on] = [find(host, "replay-back"), find(host, "replay-on")];
  checks.it_begins_at_the_beginning = said().includes("A message came.") && facts().includes("waits its turn");
  back.focus();
  back.click();
  checks.before_the_beginning_there_is_nothing_and_the_focus_stays = range.value === "1" && document.activeElement === back;
  on.click();
  on.click();
  checks.forwards_it_counts_what_was_used = facts().includes("9, 1") && facts().includes("runs");
  change(range, "5");
  checks.the_slider_goes_anywhere = said().includes("asked for approval") && facts().includes("waits for a person") && range.getAttribute("aria-valuetext").startsWith("5 of 13: You were asked");
  back.click();
  checks.backwards_it_is_as_it_was = said().includes("weather was asked for") && facts().includes("runs");
  host.querySelectorAll(".replay-list button")[12].click();
  checks.a_press_in_the_list_goes_there = facts().includes("has failed") && host.querySelectorAll("[aria-current=step]").length === 1;
  change(range, "9");
  checks.what_is_for_the_model_is_folded_away = host.querySelector(".replay-told:not([open])") !== null;
  activity.unmount();
  return checks;
}

async function inUsage() {
  const checks = {};
  const { session } = createSession("weather");
  const host = await open(activity, session, ["usage"]);
  await until(() => host.querySelectorAll("[data-testid=budget]").length === 3 && find(host, "usage-models"), "limits and tables");
  const budgets = [...host.querySelectorAll("[data-testid=budget]")].map((each) => [each.dataset.state, each.textContent]);
  checks.a_limit_is_free_near_or_reached_in_words_too = budgets[0][0] === "near" && budgets[1][0] === "reached" && budgets[1][1].includes("80 of 80, reached");
  checks.a_cost_that_nobody_knows_is_not_zero = budgets[2][0] === "free" && budgets[2][1].includes("unknown of $2.50");
  checks.a_limit_that_is_reached_has_its_button = host.querySelectorAll("[data-testid=raise-limit]").length === 1;
  checks.limits_are_changed_at_their_profile = host.querySelector("a[href='#settings/budgets/day.steps/builder']") !== null;
  checks.models_say_how_long_they_take = find(host, "usage-models").textContent.includes("1.8 s");
  const width = () => [...find(host, "usage-days").querySelectorAll(".bar i")].map((each) => each.getBoundingClientRect().width);
  const before = width();
  [...host.querySelectorAll("[role=radio]")].find((each) => each.textContent === "Money").click();
  checks.bars_show_what_was_chosen = width()[0] === 0 && before[0] > 0;
  activity.unmount();
  return checks;
}

async function inSettings() {
  const checks = {};
  const { session, asked, fails } = createSession("weather");
  const host = await open(settings, session, ["budgets", "turn.steps"]);
  await until(() => find(host, "budget-form") && find(host, "policy-form") && host.querySelector(".rule") && find(host, "model-test") && find(host, "setting-HEARTBEAT_INTERVAL")?.value === "60", "the forms");
  await until(() => document.activeElement.dataset.testid === "budget-turn.steps", "the limit that the address names has the focus");
  const form = (name) => find(host, name);
  const state = (name) => form(name).querySelector(".form-state").textContent;
  const send = (name) => form(name).querySelector("[type=submit]").click();

  checks.it_says_when_a_change_holds = state("budget-form") === "Holds from the next step of a turn on.";
  change(find(host, "budget-turn.steps"), "12");
  checks.what_is_not_saved_is_said = state("budget-form") === "Not saved yet.";
  send("budget-form");
  await until(() => state("budget-form").startsWith("Saved."), "it is saved");
  const [, profile, { budgets }] = asked.findLast(([name]) => name === "changePolicy");
  checks.budgets_are_saved_whole = profile === "builder" && budgets.turn.steps === 12 && budgets.day.money_micros === 2_500_000 && budgets.conversation.steps === null;
  change(find(host, "budget-day.input_tokens"), "many");
  send("budget-form");
  await until(() => find(host, "budget-day.input_tokens").getAttribute("aria-invalid") === "true", "what is no number is marked");
  checks.a_wrong_field_has_the_focus_and_nothing_is_sent = document.activeElement === find(host, "budget-day.input_tokens") && asked.filter(([name]) => name === "changePolicy").length === 1;

  settings.show(["budgets", "turn.wall_seconds", "operator"]);
  await until(() => document.activeElement.dataset.testid === "budget-turn.wall_seconds", "the limit of the profile that the address names has the focus");
  const ofConfig = find(host, "budget-turn.wall_seconds");
  const chosen = ofConfig.closest("section").querySelector("select");
  checks.a_limit_that_stands_elsewhere_says_so = chosen.value === "operator" && ofConfig.readOnly && ofConfig.closest(".field").textContent.includes("limits.max_runtime_minutes in the operator's config.json");
  checks.the_others_of_the_profile_are_changed_here = !find(host, "budget-day.steps").readOnly;
  change(find(host, "budget-day.steps"), "9");
  send("budget-form");
  await until(() => asked.findLast(([name]) => name === "changePolicy")[1] === "operator", "the limits of the operator are saved");
  const ofOperator = asked.findLast(([name]) => name === "changePolicy")[2].budgets;
  checks.a_limit_without_a_field_stays = ofOperator.day.steps === 9 && ofOperator.turn.tokens === 50_000;

  find(host, "mode-ask").click();
  fails.set("changePolicy", "The database does not answer.");
  send("policy-form");
  await until(() => form("policy-form").textContent.includes("The database does not answer."), "a refusal is said");
  checks.what_was_refused_is_not_called_saved = state("policy-form") === "Not saved yet.";
  fails.clear();
  send("policy-form");
  await until(() => state("policy-form").startsWith("Saved."), "it is saved after all");
  checks.the_mode_is_changed = asked.findLast(([name]) => name === "changePolicy")[2].mode === "ask";
  const rule = host.querySelector("[data-tool=restart] select");
  fails.set("setRule", "No.");
  change(rule, "always");
  await until(() => rule.value === "never", "a rule that was refused is shown as it is");
  fails.clear();
  change(rule, "none");
  await until(() => asked.at(-1)[0] === "setRule", "a rule is taken away");
  checks.a_rule_is_saved_as_it_is_chosen = JSON.stringify(asked.at(-1)) === '["setRule","builder","restart",null]';

  const fallback = find(host, "setting-LLM_FALLBACK");
  checks.what_the_environment_sets_wins_and_is_named = fallback.readOnly && fallback.closest(".field").textContent.includes("Set by LLM_FALLBACK in the environment, which wins.");
  const named = [...find(host, "server-form").querySelectorAll("input")].map(({ name }) => name);
  checks.what_the_server_lets_the_page_set_has_a_field = named.toSorted().join() === "APPROVAL_EXPIRY,HEARTBEAT_INTERVAL,LEVEL3_NEWER,MAX_TOOL_ITERATIONS";
  checks.what_waits_for_the_next_start_is_said = find(host, "setting-HEARTBEAT_INTERVAL").closest(".field").textContent.includes("From the next start on: 60");
  const wrongAt = (testid) => find(host, testid).getAttribute("aria-invalid") === "true" && document.activeElement === find(host, testid) && find(host, testid).closest(".field").querySelector(".wrong").textContent;
  change(find(host, "setting-HEARTBEAT_INTERVAL"), "0");
  fails.set("changeSettings", { field: "HEARTBEAT_INTERVAL", says: "`0` cannot be used here." });
  send("server-form");
  await until(() => wrongAt("setting-HEARTBEAT_INTERVAL"), "the field of a setting that was refused is marked and has the focus");
  checks.a_refused_setting_is_told_at_its_field_alone = wrongAt("setting-HEARTBEAT_INTERVAL") === "0 cannot be used here." && form("server-form").querySelector(".problem").hidden;
  fails.clear();
  change(find(host, "messages-weather"), "99999999999999999999");
  send("tier-weather");
  await until(() => wrongAt("messages-weather"), "the field of a limit that is too large is marked and has the focus");
  checks.the_largest_limit_of_a_tier_is_named = wrongAt("messages-weather") === "A whole number up to 2,147,483,647, or nothing." && !asked.some(([name]) => name === "setTier");
  fails.set("changeMe", { field: "display_name", says: "A name can be seen." });
  send("me-form");
  await until(() => wrongAt("display-name"), "the field of a name that was refused is marked and has the focus");
  checks.a_name_that_was_refused_is_not_called_saved = state("me-form") === "Not saved yet.";
  fails.clear();
  [...host.querySelectorAll("button")].find((each) => each.getAttribute("aria-label") === "Choose qwen3").click();
  send("model-form");
  await until(() => state("model-form").startsWith("Saved."), "the model is chosen");
  checks.only_what_changed_is_sent = JSON.stringify(asked.findLast(([name]) => name === "changeSettings")) === '["changeSettings",{"LLM_PROVIDER":"ollama","LLM_MODEL":"qwen3"}]';
  find(host, "model-test").click();
  await until(() => host.querySelector(".tested-head")?.dataset.ok === "false", "the test of the model tells");
  checks.what_a_test_found_is_said = host.querySelector(".tested").textContent.includes("It cannot be used.") && host.querySelector(".checks").textContent.includes("failed");
  find(host, "backup").click();
  await until(() => find(host, "backup-result").textContent.includes("The backup is weather."), "the backup is made");
  find(host, "records").click();
  await until(() => find(host, "records-result").querySelectorAll(".problem").length === 3, "what is not as it was recorded is said");
  checks.the_data_folder_is_named = find(host, "data-folder").textContent.includes("weather (LEVEL3_DATA_DIR");
  checks.a_token_is_shown_to_nobody = host.textContent.includes("set, and shown to nobody");
  [...find(host, "mcp-servers").querySelectorAll("button")].at(-1).click();
  checks.a_server_is_removed_only_after_a_question = document.querySelector("dialog").textContent.includes("Remove the server weather?") && asked.every(([name]) => name !== "removeMcp");
  document.querySelector("dialog [data-testid=confirm]").click();
  await until(() => asked.some(([name]) => name === "removeMcp"), "then it is removed");
  checks.nothing_is_wider_than_the_window = document.documentElement.scrollWidth <= innerWidth;
  settings.unmount();
  return checks;
}

/** The elements that the places themselves are made of. */
const OURS = "svg.icon, form.filters, form.filters *, form.saving-form, form.saving-form *, form.rate-new, form.rate-new *, .rules select, .rules option, .rate-table input, .field *, .switch input, .approval-form, .approval-form *, h2[id], .bar, datalist, datalist *, option, .replay-controls input";

async function hostile() {
  const found = [];
  for (const [name, text] of Object.entries(HOSTILE)) {
    const { session } = createSession(text.replaceAll("FOREIGN", document.body.dataset.foreign));
    for (const [place, parts, ready] of [
      [inbox, [], "l3-approval"],
      [activity, [], ".event"],
      [activity, ["turn", "3"], ".replay-list"],
      [activity, ["usage"], "[data-testid=usage-models]"],
      [settings, [], "[data-testid=providers] .model-title"],
    ]) {
      const host = await open(place, session, parts);
      await until(() => host.querySelector(ready), `${ready} with ${name}`);
      for (const each of host.querySelectorAll("[data-testid=replay-on], [data-testid=model-test], [data-testid=backup], [data-testid=records]")) for (let times = 0; times < 13; times++) each.click();
      for (const each of host.querySelectorAll("details")) each.open = true;
      await wait(0);
      const bad = [...host.querySelectorAll(FORBIDDEN_ELEMENTS)].filter((node) => !node.matches(OURS));
      const handlers = [...host.querySelectorAll("*")].filter((node) => [...node.attributes].some(({ name: attribute }) => /^on/.test(attribute)));
      found.push(...[...bad, ...handlers].map((node) => `${name}: ${node.outerHTML.slice(0, 200)}`));
      place.unmount();
    }
  }
  return found;
}

async function run() {
  const checks = {};
  for (const part of [inInbox, inEvents, inReplay, inUsage, inSettings]) Object.assign(checks, await part());
  const found = await hostile();
  await wait(300);
  const before = pwned;
  const control = document.createElement("div");
  document.body.append(control);
  control.innerHTML = HOSTILE["image with a handler"];
  await until(() => pwned > before, "the harness would have noticed");
  return { checks, found, pwned: before, control: { ran: pwned > before } };
}

const report = await run().catch((error) => ({ failure: String(error.stack) }));
await fetch("/report", { method: "POST", body: JSON.stringify(report) });
