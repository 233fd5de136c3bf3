// The to-dos beside the chat. Each press is an order of the person; what the server says of one
// that was not carried out stands above the list.

import { taskLists } from "../core/entries.js";
import { h, keyed } from "../core/dom.js";
import { later } from "../core/later.js";
import { mainState, together } from "../core/workspace.js";
import { button } from "../ui/button.js";
import { input } from "../ui/forms.js";
import { openMenu } from "../ui/menu.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";
import { actsOf } from "./acts.js";
import { minutesField, minutesOf } from "./dialogs.js";
import { createOrders } from "./orders.js";
import { said } from "./words.js";
import "./todo.js";

/** The server lists no more, and so many that are done are shown. */
const MOST = 500;
const DONE_SHOWN = 50;
/** With no more tasks than these, their steps are seen at once. */
const OPEN_AT_ONCE = 6;

/** The panel of the character `profile`: `{ node, show(workspace), asks(rows) }`. `asked()` is told when a press made a question. */
export function createPanel({ session, profile, announce, asked, signal }) {
  const { store, lists } = session;
  const folds = new Map();
  const orders = createOrders({ session, profile, changed: () => show(store.getState()), signal });
  const refusal = h("div", { class: "todo-refusal" });

  /** Waits for what came of an order; tells what was not done, and leads to a question. */
  async function follow(title, under) {
    refusal.replaceChildren();
    const outcome = await under;
    if (outcome === undefined) return undefined;
    if (outcome.state === "waits") asked();
    else if (outcome.state !== "done") refusal.replaceChildren(errorState(title ? said.failed(title, outcome.said) : outcome.said));
    // The conversation reads out there whatever it is told.
    else if (outcome.said && outcome.conversation !== store.getState().shown) announce(outcome.said);
    return outcome;
  }

  const fold = (task, open) => {
    folds.set(task.id, open);
    show(store.getState());
  };
  const acts = actsOf({ orders, follow, fold, openMenu });

  const questions = h("div", { class: "todo-questions" });
  const add = addForm((title) => follow("", orders.press("new", "createTask", { description: title, confirmed: false })));
  const focus = focusForm((minutes) => follow(said.focusTitle, orders.press("timer", "startTimer", { minutes })));
  const waiting = h("div", {}, waitingFor(() => lists.load("tasks"), 3));
  const problem = h("div", {});
  const none = emptyState(said.none, said.noneHelp);
  const list = h("div", { class: "todo-list", role: "list", "aria-label": said.todos, "data-testid": "todos" });
  const done = h("div", { class: "todo-list", role: "list" });
  const clear = button(said.clear, () => follow("", orders.press("clear", "clearCompletedTasks", { confirmed: false })), { kind: "quiet", "data-testid": "clear-done" });
  const doneName = h("summary", {});
  const doneBox = h("details", { class: "todo-done", hidden: true }, doneName, done, clear);
  const more = h("p", { class: "none", hidden: true }, said.more);
  const keys = h("p", { class: "none todo-keys" }, said.keys);
  const node = h("aside", { class: "todos", "aria-label": said.todos, tabindex: "-1" }, questions, add, focus.node, refusal, waiting, problem, none, list, doneBox, more, keys);
  node.addEventListener("keydown", (event) => arrows(event, node));
  node.addEventListener("decide", ({ detail }) => session.decide(detail));

  function show(workspace) {
    if (signal.aborted) return;
    const { entries, error } = mainState(workspace).lists.tasks ?? {};
    const { open, closed } = taskLists(together(workspace));
    const row = (isOpen) => (task) => ({ key: task.id, kind: "todo", task, saving: orders.isUnder(task.id), open: folds.get(task.id) ?? isOpen });
    const make = () => Object.assign(document.createElement("l3-todo"), { acts });
    const isMade = open.length > 0 || closed.length > 0;
    keyed(list, open.map(row(open.length <= OPEN_AT_ONCE)), make);
    keyed(done, closed.slice(0, DONE_SHOWN).map(row(false)), make);
    doneBox.hidden = closed.length === 0;
    doneName.textContent = said.done(closed.length);
    done.setAttribute("aria-label", said.done(closed.length));
    // Nothing is said to be empty before the server said so.
    waiting.hidden = isMade || entries !== undefined || Boolean(error);
    none.hidden = isMade || entries === undefined;
    keys.hidden = open.length === 0;
    more.hidden = !(entries?.length >= MOST);
    if (problem.told !== error) {
      problem.told = error;
      problem.replaceChildren(error ? errorState(said.cannot(error), () => lists.load("tasks")) : "");
    }
    const { timer } = mainState(workspace).lists.timer?.entries ?? {};
    // One that runs stands in the dock.
    focus.node.hidden = timer === undefined || timer.state !== "idle";
  }

  /** Questions stand here as well, for a window in which the chat is not in sight. */
  const asks = (rows) => keyed(questions, rows, () => later("l3-question", () => import("../ui/question.js")));

  return { node, show, asks };
}

function addForm(add) {
  const title = input({ placeholder: said.add, "aria-label": said.add, maxlength: "200", "data-testid": "todo-new" });
  const submit = async () => {
    const text = title.value.trim();
    if (text === "") {
      title.focus();
      return;
    }
    const outcome = await add(text);
    // A title that was not taken stays to be mended.
    if (["waits", "done"].includes(outcome?.state) && title.value.trim() === text) title.value = "";
  };
  const node = h("form", { class: "todo-add" }, title, button(said.addButton, submit, { type: "submit", icon: "plus", "data-testid": "todo-add" }));
  node.addEventListener("submit", (event) => event.preventDefault());
  return node;
}

function focusForm(start) {
  const minutes = minutesField();
  const submit = async () => {
    const number = minutesOf(minutes.value);
    minutes.setAttribute("aria-invalid", String(number === undefined));
    if (number === undefined) minutes.focus();
    else await start(number);
  };
  const name = h("label", {}, said.focusTitle, " ", minutes, h("span", {}, ` ${said.minutes}`));
  const node = h("form", { class: "todo-focus", hidden: true }, name, button(said.start, submit, { type: "submit", "data-testid": "timer-start" }));
  node.addEventListener("submit", (event) => event.preventDefault());
  return { node };
}

/** Arrows go from box to box. */
function arrows(event, node) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.altKey || event.defaultPrevented || !event.target.matches("l3-todo [data-part]:not([data-part=add])")) return;
  event.preventDefault();
  const boxes = [...node.querySelectorAll("l3-todo [type=checkbox]")].filter((box) => box.checkVisibility());
  const line = event.target.closest(".todo-line, .todo-step").querySelector("[type=checkbox]");
  boxes[boxes.indexOf(line) + step]?.focus();
}
