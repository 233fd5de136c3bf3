// Shows every component of `ui/`, and the find bar of Chat, in every state, for `gallery.html`; and
// for `gallery.test.mjs` tries them by keyboard, looks at them with axe-core in both themes, and
// reports.

import { createFinder } from "/chat/find.js";
import { h } from "/core/dom.js";
import { later } from "/core/later.js";
import { words } from "/core/words.js";
import "/ui/approval.js";
import { budgetBar } from "/ui/bars.js";
import { button, iconButton } from "/ui/button.js";
import { RowsChart } from "/ui/chart.js";
import { codeBlock } from "/ui/code.js";
import { closeDetails, openDetails } from "/ui/details.js";
import { ask, openDialog } from "/ui/dialog.js";
import { exactBlock, exactDiff } from "/ui/exact.js";
import { filterBar } from "/ui/filters.js";
import { foldable } from "/ui/fold.js";
import { schemaForm } from "/ui/fields.js";
import { field, input, segmented, select, toggle } from "/ui/forms.js";
import * as MORE_ICONS from "/ui/icons-more.js";
import { ICONS, iconOf } from "/ui/icons.js";
import { openMenu } from "/ui/menu.js";
import "/ui/question.js";
import { badge, emptyState, errorState, skeleton, waitingFor } from "/ui/states.js";
import "/ui/table.js";
import { readTable } from "/ui/table-text.js";
import { tabs } from "/ui/tabs.js";
import "/ui/timer.js";
import { toast } from "/ui/toast.js";
import { weekView } from "/ui/week.js";

const nothing = () => {};
const sample = (title, ...children) => document.querySelector("main").append(h("section", { class: "sample" }, h("h2", {}, title), children));
/** An element that is told what to show. */
const shows = (name, data) => Object.assign(document.createElement(name), { data });
const busy = () => {
  const node = button("Saving", () => new Promise(nothing));
  node.click();
  return node;
};
const wrongField = () => {
  const { node, wrong } = field("Name", input({ value: "a b" }), "Letters and digits.");
  wrong("A space cannot be in a name.");
  return node;
};

const menuButton = button("Menu", (anchor) => openMenu(anchor, [{ text: "Rename", action: nothing }, { text: "Delete", kind: "danger", action: nothing }]));
const dialogButton = button("Dialog", () => ask({ title: "Delete “Books”?", text: "What was recorded stays.", yes: "Delete", kind: "danger", action: nothing }));
const choices = [["system", "System"], ["light", "Light"], ["dark", "Dark"]];
let chosen;
const choice = segmented("Theme", choices, "system", (value) => (chosen = value));
const panels = tabs("Parts", [["First", h("p", {}, "The first part.")], ["Second", h("p", {}, "The second part.")]]);

for (const kind of ["primary", "plain", "quiet", "danger"])
  sample(`Button, ${kind}`, button("Save", nothing, { kind }), button("Save", nothing, { kind, icon: "plus" }), button("Save", nothing, { kind, disabled: true }), button("Save", nothing, { kind, "aria-disabled": "true" }));
sample("Button, busy", busy());
sample("Icon button", iconButton("close", "Close", nothing), iconButton("more", "More", nothing, { "aria-expanded": "true" }));
sample("Field", field("Title", input(), "Empty: the first message is the title.").node, wrongField(), field("Off", input({ disabled: true })).node);
sample("Select", field("Language", select([["en", "English"], ["pt", "Português"]], "pt", nothing)).node);
sample("Switch", toggle("On", true, nothing), toggle("Off", false, nothing, "With a sentence of help."));
sample("Segmented", choice);
const toastButton = button("Toast", () => toast("Archived", { undo: "Undo", action: nothing }));
sample("Menu, dialog, toast", menuButton, dialogButton, toastButton);
sample("Badge", badge(1, "1 approval waits"), badge(12, "12 approvals wait"), badge(250, "250 approvals wait"));
sample("Tabs", panels);
sample("Empty", emptyState("Nothing to do", "Ask in Chat for something to be done later."));
sample("Error", errorState("The server cannot be reached.", nothing));
sample("Skeleton", skeleton());
sample("Code", codeBlock("const answer = 6 * 7;", "javascript"), exactBlock("let a = 1; // \u202e", "javascript", "A source"), exactDiff("@@ -1 +1 @@\n-let a = 1;\n+let a = 2;", "What changes"));
const longCode = Array.from({ length: 60 }, (_, line) => `let line${line} = ${line};`).join("\n");
sample("Code, folded", foldable(codeBlock(longCode, "javascript"), longCode));
sample(
  "Budgets",
  budgetBar({ label: "Tokens read", used: 10, limit: 100, text: "10 of 100" }),
  budgetBar({ label: "Tokens written", used: 90, limit: 100, text: "90 of 100" }),
  budgetBar({ label: "Money", used: 3, limit: 2, text: "$3.00 of $2.00, reached", action: button("Change this limit", nothing) }),
);
const filters = filterBar({ label: "Filters", clear: "Clear", changed: nothing, fields: [{ name: "kind", label: "What", options: [["", "Everything"], ["a", "Calls"]] }, { name: "tool", label: "Tool", type: "text", hint: "Any tool" }, { name: "from", label: "From", type: "date" }] });
filters.offer("tool", [["execute_sql", "execute_sql"]]);
sample("Filters", filters.node);
const schema = {
  required: ["name", "loud"],
  properties: {
    name: { type: "string", description: "Any text." },
    size: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    style: { enum: ["plain", "bold"] },
    loud: { type: "boolean" },
    words: { type: "array", items: { type: "string" }, default: ["one"] },
    when: { type: "string", format: "date-time" },
    more: { type: "object" },
  },
};
sample("Form from a schema", schemaForm(schema, { submit: nothing, label: "Call it" }), schemaForm({ properties: {} }, { submit: nothing, label: "Call it" }));
const week = weekView(() => document.createElement("p"), "Week");
week.show(Array.from({ length: 7 }, (_, day) => ({ name: `${day + 1}`, long: `Day ${day + 1}`, isToday: day === 2, rows: [] })), 2);
sample("Week", week.node);
const given = { columns: [{ name: "day", type: "date" }, { name: "calls", type: "int8" }, { name: "note", type: "text" }], rows: [["2026-11-20", 3, "a few"], ["2026-11-21", 12, null], ["2026-11-22", 8, "a long note that goes on and on, and therefore opens in the details"]], total: 300 };
const table = Object.assign(document.createElement("rows-table"), { rows: given });
sample("Table", table, Object.assign(document.createElement("rows-table"), { rows: { ...given, rows: [], total: 0 } }));
const chart = new RowsChart();
sample("Chart", chart);
const drawn = chart.show(readTable(given));
const detailsButton = button("Details", (from) => openDetails({ title: "A call", body: h("p", {}, "What it was called with."), from }));
sample("Details", detailsButton);
/** The find bar over a conversation of three rows, as Chat has one. */
function findBar() {
  const rows = ["The roof leaks", "Call the roofer", "Done"].map((content, index) => ({ key: `row:${index}`, kind: "user", content }));
  const nodes = new Map(rows.map(({ key, content }) => [key, h("p", {}, content)]));
  const list = h("div", { class: "rows" }, ...nodes.values());
  const column = h("div", { class: "column" }, list);
  const state = { historyAfter: 0, hello: { conversation: 1 } };
  const store = { getState: () => ({ shown: 1, main: 1, states: new Map([[1, state]]) }), dispatch: nothing };
  const messages = { list, view: { rows }, toKey: (key) => nodes.get(key) };
  const chat = { column, messages, session: { store, api: {} }, told: nothing };
  sample("Find", column);
  const finder = createFinder(chat);
  finder.open();
  document.activeElement.blur();
  return { column, finder, nodes };
}
const finding = findBar();

const HOUR = 3_600_000;
const soon = new Date(Date.now() + HOUR).toISOString();
const asked = { tool: "execute_sql", args: { query: "DELETE FROM books" }, what: ["Deletes all rows of `books`."], why: "It deletes rows.", canAlways: true, words: { approve: ["CONFIRM"], deny: ["CANCEL"] }, question: "Should I delete the task “Pay the rent”?" };
const weather = { name: "weather", language: "javascript", source: longCode, replaces: 1, diff: "@@ -1 +1 @@\n-let a = 1;\n+let a = 2;", grants: { http: { hosts: ["api.example.com"] } }, grants_in_words: ["Send any request to https://api.example.com."] };
const installed = { ...asked, tool: "write_capability", args: { name: "weather", code: longCode }, what: ["Installs version 2 of `weather`.", "From then on it may, without being asked about again:"], capability: weather };
let questions = 0;
const question = (name, fields) => shows(name, { key: `asked:${(questions += 1)}`, kind: "approval", id: questions, state: "pending", connected: true, expiresAt: soon, shown: asked, ...fields });
const answers = [{ state: "approved", channel: "page" }, { state: "denied", channel: "page", reason: "not today" }, { state: "expired" }].map((fields) => ({ decidedAt: new Date().toISOString(), ...fields }));
sample("Approval", question("l3-approval"), question("l3-approval", { shown: installed, conversation: 7, title: "Weather" }));
sample("Approval, sent, and without a line", question("l3-approval", { sending: "approve" }), question("l3-approval", { connected: false }));
sample("Approval, decided", ...answers.map((fields) => question("l3-approval", fields)));
sample("Question", question("l3-question"), question("l3-question", { targets: "Pay the rent\nBuy milk" }), question("l3-question", { connected: false }));
sample("Question, answered", ...answers.map((fields) => question("l3-question", fields)));
sample("Timer", shows("l3-timer", { timer: { state: "running", minutes: 60, ends_at: soon, left_ms: null }, title: "Write the report" }), shows("l3-timer", { timer: { state: "paused", minutes: 25, ends_at: null, left_ms: 600_000 }, title: "" }));
sample("Icons", ...ICONS.map((name) => iconOf(name, name)), ...Object.entries(MORE_ICONS).map(([name, path]) => iconOf(path, name)));

/** An element whose code comes after it was told what to show, and one whose code never comes. */
async function comesLater() {
  let come;
  const coming = new Promise((resolve) => (come = resolve));
  const nodes = [1, 2].map(() => later("test-late", () => coming));
  document.body.append(nodes[0]);
  for (const [index, node] of nodes.entries()) node.data = `told ${index}`;
  customElements.define("test-late", class extends HTMLElement {
    set data(text) {
      this.textContent = text;
    }
  });
  come();
  await coming;
  await Promise.resolve();
  nodes[0].data = "told again";
  const never = later("test-never", () => Promise.reject(new Error("a test lost it")));
  await new Promise((resolve) => setTimeout(resolve));
  const shown = [...nodes, never].map((node) => node.textContent);
  nodes[0].remove();
  return {
    what_was_told_before_the_code_came_is_shown: shown[0] === "told again" && shown[1] === "told 1",
    code_that_does_not_come_is_said: shown[2] === words.say.notLoaded,
    a_second_one_waits_for_nothing: later("test-late", () => coming).matches(":defined"),
  };
}

/** The stand-in for content after 0, 2 and 10 seconds, on a clock of its own. */
function longWait() {
  const real = window.setTimeout;
  const timers = [];
  window.setTimeout = (action, after) => timers.push({ action, after });
  let called = false;
  const host = document.body.appendChild(document.createElement("div"));
  host.append(waitingFor(() => (called = true), 2));
  const [node] = host.children;
  window.setTimeout = real;
  const pass = (until) => timers.filter(({ after }) => after <= until).forEach(({ action }) => action());
  pass(1999);
  const quiet = node.textContent === "";
  pass(2000);
  const said = node.textContent !== "" && !node.querySelector("button");
  pass(10_000);
  node.querySelector("button").click();
  // Called off, it says so, and can be tried once more.
  const told = host.querySelector("[role=alert]");
  const off = !node.isConnected && told?.textContent.startsWith("This was cancelled.") && !called;
  told?.querySelector("button").click();
  host.remove();
  return quiet && said && off && called;
}

/** Words that are looked for: the last row with them first, then the one before it, around, and none. */
async function found() {
  const { column, finder, nodes } = finding;
  const field = column.querySelector("[data-testid=find]");
  const told = column.querySelector(".find-told");
  const until = async (text) => {
    for (const end = Date.now() + 5000; told.textContent !== text && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 10));
    return told.textContent === text;
  };
  const look = (text) => {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const marked = () => [...nodes.values()].findIndex((node) => node.dataset.found !== undefined);
  look("ROOF");
  const last = (await until("2 of 2")) && marked() === 1;
  column.querySelector("[data-testid=find-previous]").click();
  const first = (await until("1 of 2")) && marked() === 0;
  column.querySelector("[data-testid=find-previous]").click();
  const around = (await until("2 of 2")) && marked() === 1;
  look("moon");
  const none = await until("Nothing found");
  look("roof");
  await until("2 of 2");
  return { last, first, around, none, open: finder.isOpen || field.isConnected };
}

/** Things that enter have entered, and what a theme changes has changed. */
const settled = () => Promise.allSettled(document.getAnimations().filter(({ effect }) => effect.getTiming().iterations === 1).map(({ finished }) => finished));

/** The faults that axe-core finds in each theme: in all that stands there, and in what opens. */
async function looked() {
  const script = Object.assign(document.createElement("script"), { src: "/harness/vendor/axe-core-4.14.1.min.js" });
  await new Promise((resolve, reject) => {
    Object.assign(script, { onload: resolve, onerror: reject });
    document.head.append(script);
  });
  const { axe } = globalThis;
  const rules = { "label-content-name-mismatch": { enabled: true } };
  const gone = (css) => document.querySelector(css).remove();
  const states = {
    rest: [nothing, nothing],
    a_menu: [() => menuButton.click(), () => document.querySelector(".menu").hidePopover()],
    a_dialog: [() => dialogButton.click(), () => document.querySelector("dialog").close()],
    a_toast: [() => toastButton.click(), () => gone(".toast")],
    details: [() => detailsButton.click(), closeDetails],
  };
  const checks = {};
  for (const theme of ["light", "dark"]) {
    document.documentElement.dataset.theme = theme;
    for (const [state, [open, close]] of Object.entries(states)) {
      open();
      await settled();
      const { violations, passes } = await axe.run(document, { resultTypes: ["violations"], rules });
      const faults = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 4).map(({ html, any }) => `${html.slice(0, 160)} ${any[0]?.message ?? ""}`).join(" | ")}`);
      checks[`axe_finds_nothing_in_${state}_${theme}`] = faults.join("\n") || passes.length > 10;
      close();
      await settled();
    }
  }
  delete document.documentElement.dataset.theme;
  return checks;
}

/** The keys that a person presses, and whether they did what they should. */
async function tried() {
  const key = (target, name) => target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  const checks = {};
  const named = (node) => (node.getAttribute("aria-label") ?? node.textContent).trim() !== "" || node.querySelector("[aria-label]");
  checks.every_button_has_a_name = [...document.querySelectorAll("button")].every(named);
  choice.firstElementChild.focus();
  key(choice.firstElementChild, "ArrowLeft");
  checks.arrows_choose_among_segments = chosen === "dark" && document.activeElement.dataset.value === "dark";
  checks.one_segment_can_be_reached_with_tab = choice.querySelectorAll('[tabindex="0"]').length === 1;
  menuButton.focus();
  menuButton.click();
  const menu = document.querySelector(".menu");
  checks.a_menu_takes_the_focus = menu.contains(document.activeElement) && menuButton.getAttribute("aria-expanded") === "true";
  key(document.activeElement, "ArrowDown");
  checks.arrows_move_in_a_menu = document.activeElement.textContent === "Delete";
  menu.hidePopover();
  await new Promise((resolve) => setTimeout(resolve, 50));
  checks.a_menu_gives_the_focus_back = document.activeElement === menuButton && !menu.isConnected;
  dialogButton.focus();
  dialogButton.click();
  const dialog = document.querySelector("dialog");
  checks.a_dialog_does_not_put_the_focus_on_what_deletes = document.activeElement.textContent === "Cancel";
  dialog.close();
  checks.a_dialog_gives_the_focus_back = document.activeElement === dialogButton;
  const [, second] = panels.querySelectorAll("[role=tab]");
  panels.querySelector("[role=tab]").focus();
  key(document.activeElement, "ArrowRight");
  checks.arrows_move_among_tabs = document.activeElement === second && panels.textContent.includes("second") && panels.querySelector("[role=tabpanel]").hidden;
  const waits = document.querySelector("[aria-busy=true]");
  waits.focus();
  checks.a_busy_button_keeps_the_focus = document.activeElement === waits;
  detailsButton.focus();
  detailsButton.click();
  checks.details_take_the_focus = document.querySelector(".details").contains(document.activeElement);
  closeDetails();
  checks.details_give_the_focus_back = document.activeElement === detailsButton;
  const [sort] = table.querySelectorAll("thead button");
  sort.click();
  sort.click();
  checks.a_column_sorts_both_ways = sort.closest("th").getAttribute("aria-sort") === "descending" && table.querySelector("tbody th").title.startsWith("2026-11-22");
  await drawn;
  checks.a_chart_is_drawn_beside_its_table = chart.querySelector("canvas") !== null;
  document.documentElement.dir = "rtl";
  choice.firstElementChild.focus();
  key(choice.firstElementChild, "ArrowLeft");
  checks.arrows_follow_the_line_of_text = chosen === "light";
  document.documentElement.dir = "ltr";
  openDialog("Empty", []).close();
  checks.a_closed_dialog_leaves_the_page = document.querySelector("dialog") === null || (await new Promise((resolve) => setTimeout(() => resolve(document.querySelector("dialog") === null), 50)));
  for (const [name, ok] of Object.entries(await found())) checks[`the_find_bar_goes_to_${name}`] = ok;
  checks.what_takes_long_is_said_and_can_be_called_off = longWait();
  Object.assign(checks, await comesLater());
  Object.assign(checks, await looked());
  checks.nothing_is_wider_than_the_window = document.documentElement.scrollWidth <= innerWidth;
  return { checks };
}

if (document.body.dataset.foreign) {
  const result = await tried().catch((error) => ({ failure: String(error.stack) }));
  await fetch("/report", { method: "POST", body: JSON.stringify(result) });
}
