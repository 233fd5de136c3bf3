// The side panel: tasks and capabilities, as far as the frames seen by this page tell.

import { h, icon, keyed } from "../dom.js";
import { dueIn } from "../format.js";

const CLOSE = "M5 5l10 10M15 5L5 15";
const CLOSED_SHOWN = 5;
const STATUS_WORDS = { in_progress: "in progress", done: "done", cancelled: "given up" };

/** `<l3-panel>`: `data = { open, closed, capabilities }`; sends `panel-toggle`. Due times are kept fresh by itself. */
export class Panel extends HTMLElement {
  connectedCallback() {
    this.setAttribute("role", "complementary");
    this.setAttribute("aria-label", "Tasks and capabilities");
    const close = h("button", { type: "button", class: "icon-button panel-close" }, icon(CLOSE, "Close"));
    close.addEventListener("click", () => this.dispatchEvent(new CustomEvent("panel-toggle", { bubbles: true })));
    this.tasks = h("div", { class: "tasks", role: "list" });
    this.noTasks = h("p", { class: "none" }, "Nothing to do. A task with a due time wakes the assistant by itself.");
    this.capabilities = h("ul", { class: "capabilities" });
    this.noCapabilities = h("p", { class: "none" }, "None yet. The assistant writes one when it needs it.");
    this.append(
      close,
      h("section", { "data-testid": "tasks" }, h("h2", {}, "Tasks"), this.tasks, this.noTasks),
      h(
        "section",
        { "data-testid": "capabilities" },
        h("h2", {}, "Capabilities"),
        this.capabilities,
        this.noCapabilities,
      ),
    );
    this.timer = setInterval(() => this.refreshTimes(), 1000);
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  set data({ open, closed, capabilities }) {
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
    keyed(
      this.capabilities,
      capabilities.map(({ name, version }) => ({ key: `${name} ${version}`, name, version })),
      ({ name, version }) =>
        h("li", { "data-capability": name }, h("code", {}, name), h("span", { class: "version" }, `v${version}`)),
    );
    this.noCapabilities.hidden = capabilities.length > 0;
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
