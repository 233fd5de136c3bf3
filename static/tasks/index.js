// Tasks: to-dos and when, as a list or as a week, and the heartbeat's past and next ones. They come
// from the server, and a change is an order of the person that the law looks at like any other.

import { withWork } from "../core/api-work.js";
import { h } from "../core/dom.js";
import { taskLists } from "../core/entries.js";
import { styles } from "../core/styles.js";
import { shortTime } from "../core/times.js";
import { onChange } from "../core/watch.js";
import { words } from "../core/words.js";
import { mainState, together } from "../core/workspace.js";
import { closeDetails } from "../ui/details.js";
import { segmented } from "../ui/forms.js";
import { openMenu } from "../ui/menu.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { addForm } from "./add.js";
import { dayOfName, dayStart, movedBy, movedTo } from "./days.js";
import { isOver } from "./grouping.js";
import { heartbeatSection } from "./heartbeat.js";
import { listenForKeys } from "./keys.js";
import { listPane } from "./list.js";
import { createOpened } from "./opened.js";
import { createOrders, isAsked, queuedOrders } from "./orders.js";
import "./task.js";
import { weekPane } from "./week-pane.js";
import { tasks as said } from "./words.js";

const REFRESH_MS = 1000;
/** Between two looks at the server: what the heartbeat did is told by no frame. */
const ASK_MS = 30_000;
/** The server lists no more. */
const MOST = 500;

const NOTHING = { open: [], closed: [] };

let here;

/** Puts the tasks into `host`. */
export async function mount(host, { session: given, storage, go, announce }) {
  const session = withWork(given);
  await styles(import.meta.url, "../ui/entries.css", "../ui/fields.css", "../ui/week.css", "tasks.css");
  const gone = new AbortController();
  const { signal } = gone;
  const { store, lists, api } = session;
  const orders = createOrders({ session, changed: () => show(), tell, signal });
  const add = addForm((fields, isBegun) => (refusal.replaceChildren(), orders.add(fields, isBegun)).then((outcome) => (outcome?.state === "done" && announce(said.added(fields.title)), outcome)), storage);
  const panes = { list: listPane(), week: weekPane((day) => go("tasks", "week", ...(day ? [day] : []))) };
  const view = segmented(said.view, [["list", said.list], ["week", said.weekView]], "list", (value) => go("tasks", ...(value === "week" ? ["week"] : [])));
  const waiting = h("div", {}, waitingFor(() => lists.load("tasks")));
  const problem = h("div", {});
  const refusal = h("div", { class: "task-refusal" });
  const keysHelp = h("p", { class: "none task-keys" }, said.keys);
  const none = emptyState(said.none, said.noneHelp);
  none.hidden = true;
  const more = h("p", { class: "none", hidden: true }, said.more);
  const beats = heartbeatSection(api, signal);
  const box = h("div", { class: "task-panes" }, panes.list.node, panes.week.node);
  host.append(h("div", { class: "sheet wide", "data-testid": "tasks" }, h("div", { class: "task-bar" }, add.node, view), problem, refusal, waiting, none, box, more, keysHelp, beats.node));
  const state = { view: "list", day: undefined, place: [], current: undefined };

  function show() {
    if (signal.aborted) return;
    const workspace = store.getState();
    const { entries, error } = mainState(workspace).lists.tasks ?? {};
    const shown = orders.over(taskLists(together(workspace)), isAsked(workspace) ? "behind" : "sent", queuedOrders(workspace));
    const count = shown.open.length + shown.closed.length;
    const focus = focused(box);
    for (const [name, pane] of Object.entries(panes)) {
      const isShown = name === state.view;
      // A task stands in the page once. A week that is in sight can look where its days stand.
      if (!(pane.node.hidden &&= !isShown)) pane.show(isShown ? shown : NOTHING, Date.now(), state.day);
      pane.node.hidden = !isShown;
    }
    // Nothing is said to be empty before the server said so.
    waiting.hidden = count > 0 || entries !== undefined || Boolean(error);
    none.hidden = count > 0 || entries === undefined || state.view === "week";
    keysHelp.hidden = count === 0;
    more.hidden = !(entries?.length >= MOST);
    if (problem.told !== error) {
      problem.told = error;
      problem.replaceChildren(error ? errorState(said.cannot(error), () => lists.load("tasks")) : "");
    }
    rove(focus);
  }

  /** One task is in the order of Tab: the one that had the focus last, or the first. */
  function rove(focus) {
    const all = tasksIn(box);
    const lost = focus && !box.contains(document.activeElement);
    const current = all.find(({ dataset }) => dataset.task === String(state.current)) ?? all[0];
    for (const task of all) task.current = task === current;
    // Elements are made anew when a task changes its place; the focus goes with it.
    if (lost && (document.activeElement === document.body || document.activeElement === null)) current?.focusPart(focus.part);
  }

  /** The task leaves the list, or its place in it: the focus stays where it was, on the next one. */
  function passFocusOn({ id }) {
    const all = tasksIn(box);
    const at = all.findIndex(({ dataset }) => dataset.task === String(id));
    state.current = (all[at + 1] ?? all[at - 1])?.dataset.task ?? id;
  }

  function tick(task) {
    const done = !isOver(task);
    passFocusOn(task);
    change(task.id, { status: done ? "done" : "pending" }, done ? said.ticked(task.title) : said.reopened(task.title), { status: task.status });
  }

  async function change(id, fields, text, before) {
    refusal.replaceChildren();
    const { open: some, closed } = taskLists(together(store.getState()));
    const title = [...some, ...closed].find((task) => task.id === Number(id))?.title ?? "";
    const outcome = await orders.change(id, title, fields);
    if (outcome?.state !== "done" || !text) return;
    if (before) toast(text, { undo: said.undo, action: () => change(id, before) });
    else announce(text);
  }

  /** The law asks first, as a rule. If it does not, the task can be made once more. */
  async function remove(task) {
    if (task.saving || typeof task.id === "string") return;
    refusal.replaceChildren();
    passFocusOn(task);
    const outcome = await orders.remove(task.id, task.title);
    if (outcome?.state !== "done") return;
    if (tasksIn(box).length === 0) add.focus();
    const { title, details, due_at: dueAt } = task;
    const again = () => orders.add({ title, details: details ?? "", ...(dueAt && { due_at: dueAt }) });
    toast(said.deleted(title), isOver(task) ? {} : { undo: said.undo, action: again });
  }

  const move = (task, dueAt) => change(task.id, { due_at: dueAt }, dueAt ? said.moved(task.title, shortTime(dueAt)) : said.dateTaken(task.title));

  function menu({ task, from }) {
    const day = (later) => movedTo(task.due_at, dayStart(Date.now(), later), Date.now());
    const entries = [{ text: said.edit, action: () => opened.go(task.id, from) }];
    if (!isOver(task)) {
      entries.push({ text: said.toToday, action: () => move(task, day(0)) }, { text: said.toTomorrow, action: () => move(task, day(1)) }, { text: said.toWeek, action: () => move(task, day(7)) });
      if (task.due_at) entries.push({ text: said.toUndated, action: () => move(task, "") });
      entries.push({ text: said.giveUp, action: () => change(task.id, { status: "cancelled" }, said.givenUp(task.title), { status: task.status }) });
    }
    entries.push({ text: said.remove, kind: "danger", action: () => remove(task) });
    openMenu(from, entries);
  }

  /** A question has its place in Chat. An order that was not carried out is said here until it is tried again, or something else is. */
  function tell(text, { state: how, conversation }, again) {
    if (how === "waits") toast(text, { undo: said.look, action: () => go("chat", String(conversation)) });
    else refusal.replaceChildren(errorState(text, how === "failed" ? again : undefined));
  }

  box.addEventListener("task-tick", ({ detail }) => tick(detail.task));
  box.addEventListener("task-open", ({ detail }) => opened.go(detail.task.id, detail.from));
  box.addEventListener("task-menu", ({ detail }) => menu(detail));
  box.addEventListener("focusin", ({ target: at }) => {
    const task = at.closest("l3-task");
    if (!task || task.dataset.task === String(state.current)) return;
    state.current = task.dataset.task;
    for (const each of tasksIn(box)) each.current = each === task;
  });
  const byDays = (task, days) => isOver(task) || move(task, movedBy(task.due_at, days, Date.now()));
  listenForKeys(box, { shown: () => tasksIn(box), inWeek: () => state.view === "week", move: byDays, tick, remove, add: add.focus, signal });
  const ask = () => {
    if (document.hidden) return;
    lists.load("tasks");
    beats.load();
  };
  const tickAll = () => {
    for (const task of tasksIn(box)) task.refresh();
  };
  const timers = [setInterval(tickAll, REFRESH_MS), setInterval(ask, ASK_MS)];
  const parts = (workspace) => [isAsked(workspace), queuedOrders(workspace).map(({ turn }) => turn).join(), ...[...workspace.states.values()].flatMap(({ tasks, lists: { tasks: listed } }) => [tasks, listed])];
  let seen;
  store.subscribe(
    onChange(parts, (workspace) => {
      if (signal.aborted) return;
      show();
      // The next thing due changes with the tasks.
      const mark = dueMark(together(workspace));
      if (seen !== undefined && seen !== mark) beats.load();
      seen = mark;
    }),
  );
  lists.load("tasks");
  beats.load();
  let note;
  const tellOf = (node) => {
    note?.remove();
    if ((note = node)) refusal.append(node);
  };
  const opened = createOpened({ store, go, signal, change, tellOf, place: () => state.place });
  here = { gone, timers, state, show, view, opened, tellOf };
}

/** Shows what the address names: `week`, a week by one of its days, or a task over what is shown. */
export function show(parts = []) {
  if (!here) return;
  const { state } = here;
  const [first, second] = parts;
  const isWeek = first === "week";
  const id = isWeek ? undefined : first;
  if (!id) Object.assign(state, { place: parts, view: isWeek ? "week" : "list", day: isWeek ? dayOfName(second) : undefined });
  const isUnknown = isWeek && second !== undefined && state.day === undefined;
  here.tellOf(isUnknown ? emptyState(words.places.unknown(location.hash), words.places.unknownHelp) : undefined);
  here.view.choose(state.view);
  here.show();
  here.opened.show(id);
}

/** Takes the tasks out. */
export function unmount() {
  here?.gone.abort();
  for (const timer of here?.timers ?? []) clearInterval(timer);
  closeDetails();
  here = undefined;
}

/** A text that is another one when something else is due. */
const dueMark = ({ tasks }) => [...tasks.values()].map(({ id, due_at: dueAt, status, deleted }) => `${id} ${dueAt} ${status} ${deleted}`).join();

const tasksIn = (box) => [...box.querySelectorAll("l3-task")].filter((task) => !task.closest("[hidden]"));

/** The part of a task that has the focus. */
function focused(box) {
  const { activeElement } = document;
  return box.contains(activeElement) ? { part: activeElement.dataset.part ?? "box" } : undefined;
}
