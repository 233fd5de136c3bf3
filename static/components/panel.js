// The side panel: tasks, as far as the frames seen by this page tell; capabilities, secrets and usage, as the server lists them.

import { h, icon, keyed } from "../dom.js";
import { dueIn } from "../times.js";
import { capabilitySection } from "./panel-capabilities.js";
import { secretSection } from "./panel-secrets.js";
import { usageSection } from "./panel-usage.js";

const CLOSE = "M5 5l10 10M15 5L5 15";
const CLOSED_SHOWN = 5;
const STATUS_WORDS = { in_progress: "in progress", done: "done", cancelled: "given up" };

/**
 * `<l3-panel>`: `data = { open, closed, capabilities, secrets, usage }`; sends `panel-toggle` and `list-opened`. Due times are kept fresh
 * by itself. `connect` comes first.
 */
export class Panel extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "complementary");
    this.setAttribute("aria-label", "Tasks, capabilities, secrets and usage");
    const close = h("button", { type: "button", class: "icon-button panel-close" }, icon(CLOSE, "Close"));
    close.addEventListener("click", () => this.dispatchEvent(new CustomEvent("panel-toggle", { bubbles: true })));
    this.tasks = h("div", { class: "tasks", role: "list" });
    this.noTasks = h("p", { class: "none" }, "Nothing to do. A task with a due time wakes the assistant by itself.");
    this.append(close, h("section", { "data-testid": "tasks" }, h("h2", {}, "Tasks"), this.tasks, this.noTasks));
    this.timer = setInterval(() => this.refreshTimes(), 1000);
  }

  /** Adds the sections that ask the server: `api` as in `api.js`; `load(kind)` asks for a list again. */
  connect({ api, load }) {
    this.capabilities = capabilitySection(api);
    this.secrets = secretSection(api, () => load("secrets"));
    this.usage = usageSection();
    this.append(this.capabilities.node, this.secrets.node, this.usage.node);
  }

  /** True if a person looks at the list of this kind. */
  isOpen(kind) {
    return this[kind].node.open === true;
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  set data({ open, closed, capabilities, secrets, usage }) {
    const tasks = [...open, ...closed.slice(0, CLOSED_SHOWN)];
    const rows = tasks.map(({ id, title, details, status, due_at }) => ({
      key: id,
      id,
      title,
      details,
      status,
      due_at,
    }));
    keyed(this.tasks, rows, () => document.createElement("l3-task"));
    this.noTasks.hidden = tasks.length > 0;
    this.capabilities.show(capabilities);
    this.secrets.show(secrets);
    this.usage.show(usage);
  }

  refreshTimes() {
    for (const task of this.tasks.children) task.refresh();
  }
}

/** `<l3-task>`: one task; `data` has its fields. */
export class TaskEntry extends HTMLElement {
  set data(task) {
    this.task = task;
    this.setAttribute("role", "listitem");
    this.dataset.task = task.id;
    this.dataset.status = task.status;
    this.due =
      task.due_at && !STATUS_WORDS[task.status]?.match(/done|given/)
        ? h("time", { datetime: task.due_at, title: new Date(task.due_at).toLocaleString() })
        : undefined;
    const status = STATUS_WORDS[task.status]
      ? h("span", { class: "task-status" }, STATUS_WORDS[task.status])
      : undefined;
    this.replaceChildren(
      h("span", { class: "task-mark", "aria-hidden": "true" }),
      h("span", { class: "task-title", dir: "auto", title: task.details || undefined }, task.title),
      h("span", { class: "task-foot" }, h("span", { class: "task-id" }, `#${task.id}`), status, this.due),
    );
    this.refresh();
  }

  refresh() {
    if (!this.due) return;
    const { text, overdue } = dueIn(this.task.due_at, Date.now());
    if (this.due.textContent !== text) this.due.textContent = text;
    this.due.classList.toggle("overdue", overdue);
  }
}

customElements.define("l3-panel", Panel);
customElements.define("l3-task", TaskEntry);
