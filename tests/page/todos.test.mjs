// Lea and Law in a real browser: the picker, questions, the panel, the timer in every place, the
// limit, another user, and each of these looked at with axe-core in both themes and at three
// widths.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { load } from "./load.mjs";
import { axe } from "./support/axe.mjs";
import { serveTodos } from "./support/todo-server.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const [TAB, ENTER, SPACE, ALT, DOWN] = ["\uE004", "\uE007", " ", "\uE00A", "\uE015"];
/** Pictures of what was looked at go here, if somebody wants to see them. */
const PICTURES = process.env.TODO_PICTURES;

let browser;
let server;
before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.end());
afterEach(() => {
  server?.end();
  server = undefined;
});

const is = (script, ...all) => browser.waitFor(`return ${script}`, ...all);
const sees = (css) => is(`document.querySelector(arguments[0])?.checkVisibility() === true`, css);
const says = (text) => is(`document.body.innerText.includes(arguments[0])`, text);
const press = (css) => browser.js(`document.querySelector(arguments[0]).click()`, css);
const textOf = (css) => browser.js(`return document.querySelector(arguments[0])?.innerText ?? null`, css);
const write = async (css, text) => {
  await browser.js(`const node = document.querySelector(arguments[0]); node.focus(); node.value = arguments[1]; node.dispatchEvent(new Event("input", { bubbles: true }))`, css, text);
};
/** Answers the question once it can be answered. */
async function answers(yes) {
  const css = `l3-messages:not([hidden]) [data-testid=question-${yes ? "yes" : "no"}]`;
  await is(`document.querySelector(arguments[0]) !== null && !document.querySelector(arguments[0]).hasAttribute("aria-disabled")`, css);
  await press(css);
}

/** A page at `hash`, in a browser that nobody used yet. */
async function opens(world, hash, { size = [1440, 900], theme = "light", isIn = true } = {}) {
  server = await serveTodos(world);
  await browser.size(...size);
  await browser.media({ "prefers-color-scheme": theme, "prefers-reduced-motion": "reduce" });
  await browser.go("about:blank");
  await browser.go(`${server.address}${hash}`);
  if (isIn) await is(`document.querySelector("[data-testid=connection][data-state=connected]") !== null`);
  return server;
}

async function picture(name) {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(`${PICTURES}/${name}.png`, await browser.shot());
}

const option = { skip, timeout: 240_000 };

test("a_person_picks_lea_and_a_task_is_made_after_their_yes", option, async () => {
  await opens({ made: false }, "#assistant");
  await sees("[data-testid=picker]");
  await is(`document.querySelector("[data-character=law]").innerText.includes("not part of your tier")`);
  await press("[data-testid=choose-lea]");
  await sees(".talking l3-composer");
  assert.ok(server.asked.includes("DELETE /api/assistant/chat"), "the first use of a character makes the conversation");
  assert.equal(await textOf("l3-header h1"), "Lea");
  assert.equal(await textOf("[data-testid=messages-left]"), "97 messages left today");
  await write(".talking textarea", "add prepare the party");
  await browser.keys(ENTER);
  await says("Should I create a task called “prepare the party”?");
  assert.equal(await browser.js(`return [...document.querySelectorAll(".todo-title")].some((node) => node.innerText.includes("prepare the party"))`), false, "nothing is there before the yes");
  await answers(true);
  await is(`[...document.querySelectorAll(".todo-title")].some((node) => node.innerText.includes("prepare the party"))`);
  await says("Got it. ✓");
  assert.deepEqual(server.heard.filter(({ type }) => type === "approve").map(({ approval }) => approval), [51], "one yes");
  await is(`document.querySelector("[data-testid=messages-left]").innerText === "96 messages left today"`);
  assert.equal(await textOf(".question-answer"), "Yes");
  assert.deepEqual(await browser.errors(), []);
});

test("a_question_is_answered_with_words_and_declined_by_others", option, async () => {
  await opens({}, "#assistant/lea");
  await sees(".talking l3-composer");
  await write(".talking textarea", "add milk");
  await browser.keys(ENTER);
  await sees("[data-testid=question-yes]");
  await write(".talking textarea", "yes");
  await browser.keys(ENTER);
  await says("Got it. ✓");
  assert.equal(server.todos.some(({ title }) => title === "milk"), true);
  await write(".talking textarea", "add bread");
  await browser.keys(ENTER);
  await says("Should I create a task called “bread”?");
  await answers(false);
  await is(`[...document.querySelectorAll(".question-answer")].at(-1)?.innerText === "No"`);
  assert.equal(server.todos.some(({ title }) => title === "bread"), false);
});

test("the_panel_is_used_with_the_keyboard_alone", option, async () => {
  await opens({}, "#assistant/lea");
  await sees("l3-todo[data-todo='3'] .todo-step");
  assert.equal(await browser.js(`return document.querySelectorAll("[data-testid=todos] l3-todo").length`), 3);
  const focus = (css) => browser.js(`document.querySelector(arguments[0]).focus()`, css);
  const focused = () => browser.js(`return document.activeElement.dataset.part ?? document.activeElement.dataset.testid`);
  await focus("l3-todo[data-todo='3'] [data-part=step-8]");
  await browser.keys(SPACE);
  await is(`document.querySelector("l3-todo[data-todo='3'] .todo-progress").innerText === "2 of 3"`);
  assert.equal(await focused(), "step-8", "the focus stays");
  await browser.keys(SPACE);
  await is(`document.querySelector("l3-todo[data-todo='3'] .todo-progress").innerText === "1 of 3"`);
  await browser.chord(ALT, DOWN);
  await is(`[...document.querySelectorAll("l3-todo[data-todo='3'] .step-title")].map((node) => node.innerText).join() === "Invite everyone,Cook,Shop for food"`);
  assert.equal(await focused(), "step-8");
  await browser.keys(TAB);
  assert.equal(await focused(), "menu-8");
  await focus("l3-todo[data-todo='3'] [data-part=box]");
  await browser.keys(SPACE);
  await says("“Prepare the dinner party” still has 2 open subtasks: Cook, Shop for food.");
  await sees(".todo-refusal .error-state");
  await is(`document.querySelector("l3-todo[data-todo='3'] [data-part=box]").checked === false`);
  await focus("l3-todo[data-todo='3'] [data-part=add]");
  await write("l3-todo[data-todo='3'] [data-part=add]", "Lay the table");
  await browser.keys(ENTER);
  await is(`[...document.querySelectorAll("l3-todo[data-todo='3'] .step-title")].at(-1).innerText === "Lay the table"`);
  await focus("l3-todo[data-todo='4'] [data-part=menu]");
  await browser.keys(ENTER);
  await sees(".menu");
  await browser.keys(ENTER);
  await sees("[data-testid=new-name]");
  await write("[data-testid=new-name]", " ");
  await browser.keys(ENTER);
  await is(`document.querySelector("dialog .problem")?.innerText === "A title needs at least one character." && document.querySelector("dialog [aria-busy]") === null`);
  await write("[data-testid=new-name]", "Buy oat milk");
  await browser.keys(ENTER);
  await is(`document.querySelector("l3-todo[data-todo='4'] .todo-title").innerText.includes("Buy oat milk") && document.querySelector("dialog") === null`);
  assert.deepEqual(await browser.errors(), []);
});

test("nothing_is_deleted_without_a_yes_and_the_question_says_what", option, async () => {
  await opens({}, "#assistant/lea");
  await sees(".todo-done");
  await press(".todo-done > summary");
  await press("[data-testid=clear-done]");
  await sees("[data-testid=question]");
  // A question may come before the list that has the title.
  await is(`/Should I delete 1 completed task\\?\\s+Pay the rent/.test(document.querySelector("[data-testid=question]").innerText)`);
  assert.equal(server.todos.length, 4);
  await answers(true);
  await is(`document.querySelector(".todo-done").hidden`);
  assert.equal(server.todos.length, 3);
});

test("the_timer_counts_in_every_place_and_is_pressed_there", option, async () => {
  await opens({}, "#assistant/lea");
  await sees("[data-testid=timer-start]");
  await write(".todo-focus [data-testid=minutes]", "700");
  await press("[data-testid=timer-start]");
  await is(`document.querySelector(".todo-focus [data-testid=minutes]").ariaInvalid === "true"`);
  await write(".todo-focus [data-testid=minutes]", "2");
  await press("[data-testid=timer-start]");
  await sees("l3-dock [data-testid=timer]");
  await is(`/^(2:00|1:5\\d)$/.test(document.querySelector(".timer-clock").innerText)`);
  await is(`/^1:5\\d$/.test(document.querySelector(".timer-clock").innerText)`);
  assert.equal(await browser.js(`return document.querySelector(".todo-focus").hidden`), true);
  await browser.js(`location.hash = "#settings"`);
  await sees("[data-place=settings] .sheet");
  await press("l3-dock [data-testid=pauseTimer]");
  await is(`document.querySelector("l3-timer").dataset.state === "paused"`);
  const stands = await textOf(".timer-clock");
  await press("l3-dock [data-testid=resumeTimer]");
  await is(`document.querySelector("l3-timer").dataset.state === "running"`);
  assert.equal((await textOf(".timer-clock")).slice(0, 3), stands.slice(0, 3));
  server.record({ type: "timer", timer: { state: "idle", minutes: null, task: null, ends_at: null, left_ms: null }, over: true, content: "The timer is over." });
  await is(`[...document.querySelectorAll(".toast")].some((node) => node.innerText === "The timer is over.")`);
  server.record({ type: "reminder", task: 4, remind_at: new Date().toISOString(), late: false, content: "Reminder: Buy milk" });
  await is(`[...document.querySelectorAll(".toast")].filter((node) => node.innerText === "Reminder: Buy milk").length === 1`);
});

test("the_timer_counts_by_the_clock_of_the_server", option, async () => {
  const ahead = 3_600_000;
  await opens({ world: { ahead } }, "#assistant/lea");
  await sees("[data-testid=timer-start]");
  server.assistant.timer = { state: "running", minutes: 25, task: null, ends_at: new Date(Date.now() + ahead + 1_499_000).toISOString(), left_ms: null };
  server.say({ type: "changed", list: "timer" });
  await sees("l3-dock [data-testid=timer]");
  await is(`/^2[45]:\\d\\d$/.test(document.querySelector(".timer-clock").innerText)`);
});

test("what_comes_round_is_made_to_come_round_no_more", option, async () => {
  await opens({}, "#assistant/lea");
  await sees("l3-todo[data-todo='4']");
  const repeats = `document.querySelector("l3-todo[data-todo='4']").innerText.includes("every week")`;
  await is(repeats);
  const choose = async (text) => {
    await press("l3-todo[data-todo='4'] [data-part=menu]");
    await sees(".menu");
    const has = await browser.js(`const item = [...document.querySelectorAll(".menu button, .menu [role=menuitem]")].find((node) => node.innerText === arguments[0]); item?.click(); return Boolean(item)`, text);
    return has;
  };
  assert.equal(await choose("Stop repeating"), true);
  await is(`!(${repeats})`);
  assert.equal(await choose("Stop repeating"), false, "there is nothing to stop any more");
});

test("at_the_limit_the_message_is_back_in_the_field_and_the_way_on_is_said", option, async () => {
  await opens({ left: 0 }, "#assistant/lea");
  await sees(".talking l3-composer");
  await write(".talking textarea", "hello");
  await browser.keys(ENTER);
  await sees("[data-testid=upgrade]");
  assert.match(await textOf("[data-testid=upgrade]"), /You've reached your daily message limit\. Upgrade for more!/);
  assert.equal(await browser.js(`return document.querySelector(".talking textarea").value`), "hello");
  assert.equal(await browser.js(`return document.querySelectorAll("[data-testid=message-user]").length`), 0, "it is no row");
  await press("[data-testid=upgrade] a");
  await sees("[data-testid=tier-free]");
});

test("begun_anew_nothing_older_is_shown_and_a_reload_keeps_it_so", option, async () => {
  await opens({}, "#assistant/lea");
  await sees(".talking l3-composer");
  await write(".talking textarea", "hello there");
  await browser.keys(ENTER);
  await says("Nice progress.");
  await press("[data-testid=anew]");
  await sees("[data-testid=confirm]");
  await press("[data-testid=confirm]");
  await is(`document.querySelectorAll(".talking [data-testid=message-user]").length === 0 && document.querySelector("dialog") === null`);
  await says("Hello, I'm Lea 🌙");
});

test("a_word_about_a_slow_answer_is_shown_and_goes", option, async () => {
  await opens({}, "#assistant/lea");
  await sees(".talking l3-composer");
  await write(".talking textarea", "wait");
  await browser.keys(ENTER);
  await sees(".talking [data-testid=note-working]");
  server.say({ type: "notice", conversation: 21, turn: 1, content: "Taking longer than expected..." });
  await says("Taking longer than expected...");
  server.record({ type: "assistant", content: "Here I am.", turn: 1, step: 1, final: true });
  server.record({ type: "turn", turn: 1, state: "completed" });
  await says("Here I am.");
  assert.equal((await textOf(".talking")).includes("Taking longer"), false);
});

test("another_user_has_their_places_and_meets_no_refusal", option, async () => {
  const refused = [];
  await opens({ role: "member" }, "#settings");
  await browser.js(`const ask = window.fetch; window.fetch = async (...all) => { const answer = await ask(...all); return answer; }`);
  await sees("[data-testid=me-form]");
  const places = await browser.js(`return [...document.querySelectorAll("l3-rail-place a")].map((node) => node.hash)`);
  assert.deepEqual(places, ["#assistant", "#tasks", "#settings"]);
  for (const [hash, css] of [["#assistant", "[data-testid=picker]"], ["#assistant/lea", ".talking l3-composer"], ["#tasks", "[data-testid=tasks]"], ["#approvals", "[data-testid=approvals-waiting]"], ["#settings", "[data-testid=me-form]"]]) {
    await browser.js(`location.hash = arguments[0]`, hash);
    await sees(css === "[data-testid=approvals-waiting]" ? "[data-place=approvals] .sheet" : css);
  }
  const owners = /\/api\/(capabilities|secrets|mcp|policy|rates|settings|models|backup|replay|users|tiers|kept|shipped)/;
  assert.deepEqual(server.asked.filter((each) => owners.test(each)), refused);
  assert.equal(await browser.js(`return document.querySelector("[data-testid=users], [data-testid=secrets]")`), null);
  await browser.js(`location.hash = "#capabilities"`);
  await sees("[data-testid=empty] button");
  await press("[data-testid=empty] button");
  await sees("[data-testid=picker]");
});

test("another_user_deletes_a_task_after_their_yes", option, async () => {
  await opens({ role: "member" }, "#assistant/lea");
  await sees("l3-todo[data-todo='4']");
  await press("l3-todo[data-todo='4'] [data-part=menu]");
  await sees(".menu .danger");
  await press(".menu .danger");
  await says("Should I delete the task “Buy milk”?");
  assert.equal(server.todos.some(({ id }) => id === 4), true, "nothing is deleted before the yes");
  await answers(true);
  await is(`document.querySelector("l3-todo[data-todo='4']") === null`);
  assert.equal(server.todos.some(({ id }) => id === 4), false);
});

/** The bar above the chat: where the middles of its parts are, and which of them are cut off. */
const BAR = `const parts = [...document.querySelector(".talk-bar").children].filter((node) => node.checkVisibility() && node.getBoundingClientRect().width > 1);
  const middles = new Set(parts.map((node) => { const { top, height } = node.getBoundingClientRect(); return Math.round(top + height / 2); }));
  return { lines: middles.size, cut: parts.filter((node) => node.scrollWidth > node.clientWidth + 1).map((node) => node.outerHTML) }`;

for (const [width, language] of [[390, "en"], [320, "en"], [390, "pt"], [320, "pt"]]) {
  test(`the_bar_above_the_chat_is_one_line_at_${width}_${language}`, option, async () => {
    await opens({ left: 497 }, "#assistant/lea", { size: [width, 740] });
    await browser.js(`localStorage.setItem("level3.settings", JSON.stringify({ language: arguments[0] }))`, language);
    await browser.go("about:blank");
    await browser.go(`${server.address}#assistant/lea`);
    await sees(".talking l3-composer");
    await is(`document.querySelector("[data-testid=messages-left]").innerText !== ""`);
    await picture(`bar-${width}-${language}`);
    assert.deepEqual(await browser.js(BAR), { lines: 1, cut: [] });
    assert.deepEqual(await browser.js(WIDE), { wide: 0, tall: 0 });
  });
}

test("three_marks_at_once_fit_into_a_phone", option, async () => {
  for (const width of [390, 320]) {
    await opens({}, "#assistant/lea", { size: [width, 740] });
    await sees(".talking l3-composer");
    // A question waits somewhere, the line is just coming back, and there is a way back to the
    // picker; and marks at three places.
    await browser.js(`document.querySelector("[data-testid=waits]").hidden = false; const line = document.querySelector("[data-testid=connection]"); line.dataset.state = "reconnecting"; line.querySelector(".connection-words").textContent = "Reconnecting…";
      document.querySelector("l3-rail").data = { current: "assistant", badges: { chat: 3, assistant: 12, tasks: 128 } }`);
    await picture(`marks-${width}`);
    const seen = await browser.js(`const header = document.querySelector("l3-header"); const tops = new Set([...document.querySelectorAll(".rail-place")].filter((node) => node.checkVisibility()).map((node) => node.getBoundingClientRect().top));
      return { over: header.scrollWidth - header.clientWidth, title: header.querySelector("h1").innerText, cut: header.querySelector("h1").scrollWidth > header.querySelector("h1").clientWidth + 1, lines: tops.size }`);
    assert.deepEqual(seen, { over: 0, title: "Lea", cut: false, lines: 1 }, `${width}`);
    server.end();
  }
});

test("suggestions_are_words_of_the_page_s_language_unless_only_the_tour_answers", option, async () => {
  const [{ default: en }, { default: pt }] = await Promise.all(["en", "pt"].map((language) => load(`words/${language}-assistant.js`)));
  const shown = async (kind) => {
    await opens({ world: { model: { kind, provider: "ollama", name: "llama3" } } }, "#assistant/lea");
    await sees(".talking .chip");
    const chips = await browser.js(`return [...document.querySelectorAll(".talking .chip")].map((node) => node.textContent)`);
    server.end();
    return chips;
  };
  assert.deepEqual([await shown("local"), await shown("tour")], [en.suggestions.model, en.suggestions.tour]);
  assert.deepEqual(pt.suggestions.model.filter((words) => en.suggestions.model.includes(words)), []);
});

test("what_a_form_of_the_settings_got_wrong_is_said_at_its_field", option, async () => {
  const refuses = (field, says) => ({ refused: 400, error: `the body cannot be taken: \`${field}\`: no`, at: { field, says } });
  const api = {
    "POST /api/users": () => refuses("time_zone", "There is no time zone `Moon`; write it like Europe/Berlin, a region and a city of it."),
    "PUT /api/mcp/far": () => refuses("url", "`https://x` is no address; write the whole of it."),
  };
  for (const [section, form, name, wrong, said] of [
    ["users", "user-form", "user-name", "time-zone", "There is no time zone Moon; write it like Europe/Berlin, a region and a city of it."],
    ["mcp", "mcp-form", "mcp-name", "mcp-url", "https://x is no address; write the whole of it."],
  ]) {
    await opens({ api }, `#settings/${section}`);
    await sees(`.setting-part[data-testid=settings-${section}] .add > summary`);
    await press(`.setting-part[data-testid=settings-${section}] .add > summary`);
    await write(`[data-testid=${name}]`, "far");
    await press(`[data-testid=${form}] [type=submit]`);
    await sees(`[data-testid=${form}] .wrong:not([hidden])`);
    const seen = await browser.js(`const at = document.querySelector("[data-testid=${form}] .wrong:not([hidden])");
      return { said: at.textContent, at: at.closest(".field").querySelector("[data-testid]").dataset.testid, focus: document.activeElement.dataset.testid, below: document.querySelector("[data-testid=${form}] .problem").hidden }`);
    assert.deepEqual(seen, { said, at: wrong, focus: wrong, below: true });
    server.end();
  }
});

test("a_character_of_a_name_that_nobody_sees_is_written_out", option, async () => {
  const hidden = { id: 3, name: "\u202eb\u200bea", display_name: "Bea", role: "member", tier: "free", time_zone: "UTC", password: true, disabled_at: null, conversations: 0, open_tasks: 0, tokens: 0 };
  await opens({ api: { "/api/users": { users: [hidden] } } }, "#settings/users");
  await sees(".user");
  assert.match(await textOf(".user-head strong"), /^Bea \(⟨U\+202E⟩b⟨U\+200B⟩ea\)$/);
});

test("the_owner_adds_a_user_and_sees_the_link_once", option, async () => {
  const made = { user: { name: "dora" }, link: "/sign-in#secret", expires_at: new Date(Date.now() + 86_400_000).toISOString() };
  const bodies = [];
  await opens({ api: { "POST /api/users": ({ body }) => (bodies.push(body), made), "DELETE /api/users/bea": ({ search }) => (search.get("confirm") === "bea" ? { removed: "bea" } : { refused: 409, error: "Ask again with the name." }) } }, "#settings/users");
  await sees("[data-user=bea]");
  assert.match(await textOf("[data-user=bea]"), /Beatriz \(bea\)/);
  await press(".setting-part[data-testid=settings-users] .add > summary");
  await write("[data-testid=user-name]", "dora");
  await press("[data-testid=user-form] [type=submit]");
  await sees("[data-testid=shown-once]");
  assert.match(await browser.js(`return document.querySelector("[data-testid=shown-once]").value`), /^http:.*\/sign-in#secret$/);
  assert.deepEqual([bodies[0].name, bodies[0].tier], ["dora", "free"]);
  await press("[data-testid=user-menu-bea]");
  await sees(".menu .danger");
  await press(".menu .danger");
  await sees("[data-testid=remove-name]");
  await press("[data-testid=confirm]");
  await says("Ask again with the name.");
  await write("[data-testid=remove-name]", "bea");
  await press("[data-testid=confirm]");
  await is(`document.querySelector("dialog") === null`);
  await press("[data-testid=user-menu-owner]");
  await sees(".menu");
  assert.equal(await browser.js(`return document.querySelector(".menu .danger")`), null, "the server has one owner");
});

/** Things that can be pressed and are smaller than a fingertip. */
const SMALL = `return [...(document.querySelector("dialog:modal") ?? document).querySelectorAll("button, a[href], input, select, summary, [role=radio]")]
  .filter((node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && getComputedStyle(node).display !== "inline" && !node.closest(".skip, [aria-hidden=true]"))
  .map((node) => (node.matches("input") ? node.closest("label") ?? node : node))
  .filter((node) => { const { width, height } = node.getBoundingClientRect(); return height > 0 && (height < 43.5 || width < 43.5); }).map((node) => node.outerHTML.slice(0, 140))`;
const WIDE = `const root = document.documentElement; return { wide: Math.max(root.scrollWidth, document.body.scrollWidth) - innerWidth, tall: root.scrollHeight - innerHeight }`;

const LOOKS = [
  { name: "picker", hash: "#assistant", css: "[data-testid=picker]" },
  { name: "chat", hash: "#assistant/lea", css: ".talking l3-composer" },
  {
    name: "question",
    hash: "#assistant/lea",
    css: ".talking l3-composer",
    async then() {
      await write(".talking textarea", "add prepare the dinner party");
      await browser.keys(ENTER);
      await sees("[data-testid=question-yes]:not([aria-disabled])");
    },
  },
  {
    name: "todos",
    hash: "#assistant/lea",
    css: ".talking l3-composer",
    async then([width]) {
      if (width <= 768) await press(".talk-view [data-value=todos]");
      await sees("l3-todo[data-todo='3']");
    },
  },
  {
    name: "timer",
    hash: "#assistant/lea",
    css: ".talking l3-composer",
    async then() {
      server.assistant.timer = { state: "running", minutes: 25, task: 3, ends_at: new Date(Date.now() + 1_499_000).toISOString(), left_ms: null };
      server.assistant.timed = "Prepare the dinner party";
      server.say({ type: "changed", list: "timer" });
      await sees("l3-dock [data-testid=timer]");
    },
  },
  {
    name: "upgrade",
    world: { left: 0 },
    hash: "#assistant/lea",
    css: ".talking l3-composer",
    async then() {
      await write(".talking textarea", "hello");
      await browser.keys(ENTER);
      await sees("[data-testid=upgrade]");
    },
  },
  { name: "me", hash: "#settings/me", css: "[data-testid=password-form]" },
  { name: "users", hash: "#settings/users", css: "[data-user=bea]" },
  { name: "tiers", hash: "#settings/tiers", css: "[data-testid=tier-paid]" },
  { name: "sign-in", world: { api: { "/api/me": undefined } }, path: "sign-in", css: "#name" },
  { name: "invited", world: { api: { "/api/me": undefined } }, path: `sign-in#${"0f".repeat(32)}`, css: "#again" },
];

for (const [size, theme] of [[[1440, 900], "light"], [[820, 1100], "dark"], [[390, 844], "light"], [[320, 640], "light"], [[1440, 900], "dark"], [[390, 844], "dark"]]) {
  test(`every_screen_at_${size[0]}_${theme}`, option, async () => {
    for (const { name, world = {}, hash, path, css, then } of LOOKS) {
      await opens(world, path ?? hash, { size, theme, isIn: path === undefined });
      await sees(css);
      await then?.(size);
      await browser.later(`const done = arguments[0]; document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => done())))`);
      await picture(`${name}-${size[0]}-${theme}`);
      assert.deepEqual(await axe(browser), [], name);
      assert.deepEqual(await browser.js(WIDE), { wide: 0, tall: 0 }, name);
      if (size[0] < 640) assert.deepEqual(await browser.js(SMALL), [], name);
      server.end();
    }
  });
}

test("after_signing_in_one_is_back_at_the_place_that_the_address_names", option, async () => {
  const world = { api: { "/api/me": undefined } };
  await opens(world, "sign-in#assistant/lea", { isIn: false });
  await sees("#name");
  assert.equal(await browser.js(`return document.getElementById("again-field").hidden`), true, "the name of a place is no link to choose a password");
  await browser.js(`sessionStorage.setItem("level3.role", "member"); window.fetch = async () => ({ ok: true }); document.getElementById("name").value = "bea"; document.getElementById("password").value = "x"; document.querySelector("form").requestSubmit()`);
  await sees(".talking l3-composer");
  assert.equal(await browser.js(`return sessionStorage.getItem("level3.role")`), "owner", "the tab may have been somebody else's");
});

test("a_link_to_choose_a_password_that_is_pasted_into_the_page_to_sign_in_is_taken", option, async () => {
  await opens({ api: { "/api/me": undefined } }, "sign-in", { isIn: false });
  await sees("#name");
  await browser.js(`location.hash = "#${"0f".repeat(32)}"`);
  await is(`document.getElementById("again-field")?.hidden === false`);
});

test("a_menu_closes_when_the_place_changes", option, async () => {
  await opens({}, "#settings/users");
  await sees("[data-user=bea]");
  await press("[data-testid=user-menu-bea]");
  await sees(".menu");
  await browser.js(`location.hash = "#settings/me"`);
  await is(`document.querySelector(".menu") === null`);
});
