// One task: ticked by its box, opened by its title, moved by its menu or by keys; and when it is
// due, kept fresh.

import { h } from "../core/dom.js";
import { localTime, shortTime, timeOfDay } from "../core/times.js";
import { button, iconButton } from "../ui/button.js";
import { tasks as said } from "./words.js";

const SHOWN_STATUS = { in_progress: said.inProgress, cancelled: said.cancelled };

/**
 * `<l3-task>`: one task; `data` has its fields, `saving` if an order is under way (`sent`, or `behind` a question), and `brief` where the day is known. Says `task-tick`,
 * `task-open` and `task-menu`. One of all tasks is `current`: Tab reaches that one, and arrows the others.
 */
export class TaskEntry extends HTMLElement {
  set data(task) {
    this.task = task;
    const { id, title, status, due_at: dueAt, saving, brief } = task;
    this.setAttribute("role", "listitem");
    this.dataset.task = id;
    this.dataset.status = status;
    this.toggleAttribute("data-saving", Boolean(saving));
    const isOver = status === "done" || status === "cancelled";
    const isNew = typeof id === "string";
    const box = h("input", { type: "checkbox", checked: isOver, disabled: isNew, "data-part": "box", "aria-label": said.tickOf(title) });
    box.addEventListener("change", () => this.say("task-tick", box));
    const name = button(title, () => this.say("task-open", name), { class: "task-title", dir: "auto", disabled: isNew, "data-part": "title" });
    const more = iconButton("more", said.actions(title), () => this.say("task-menu", more), { "data-part": "menu", "aria-haspopup": "menu", disabled: isNew });
    this.due = dueAt ? h("time", { datetime: dueAt, title: localTime(dueAt) }, brief ? timeOfDay(dueAt) : shortTime(dueAt)) : "";
    const word = SHOWN_STATUS[status] ? h("span", { class: "task-status" }, SHOWN_STATUS[status]) : "";
    const note = saving ? h("span", { class: "task-saving" }, said.saving[saving]) : "";
    this.replaceChildren(box, name, h("span", { class: "task-foot" }, this.due, word, note), more);
    this.current = this.isCurrent ?? false;
    this.refresh();
  }

  /** True if Tab reaches it. */
  set current(is) {
    this.isCurrent = is;
    for (const control of this.querySelectorAll("[data-part]")) control.tabIndex = is ? 0 : -1;
  }

  /** Puts the focus on one of its parts, by default the box. */
  focusPart(part = "box") {
    this.querySelector(`[data-part="${part}"]`)?.focus();
  }

  say(type, from) {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true, detail: { task: this.task, from } }));
  }

  refresh() {
    if (!this.due) return;
    const isOver = this.task.status === "done" || this.task.status === "cancelled";
    this.due.classList.toggle("overdue", !isOver && Date.parse(this.task.due_at) < Date.now());
  }
}

customElements.define("l3-task", TaskEntry);
