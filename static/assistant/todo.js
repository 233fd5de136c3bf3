// One to-do: ticked by its box, opened by its title, with its steps, and a menu for all else.

import { h } from "../core/dom.js";
import { shortTime } from "../core/times.js";
import { button, iconButton } from "../ui/button.js";
import { said } from "./words.js";

const isOver = ({ status }) => status === "done" || status === "cancelled";

/**
 * `<l3-todo>`: `data = { task, saving, open }`, and `acts` with what is done when a part is pressed: `tick(task)`, `fold(task, open)`,
 * `menu(task, from)`, `tickStep(task, step)`, `stepMenu(task, step, from)`, `moveStep(task, step, by)` and `addStep(task, title)`.
 */
export class Todo extends HTMLElement {
  set data({ task, saving, open }) {
    /** Boxes that were pressed and whose order is under way, with what they will be, as which they are shown. */
    if (!saving) this.wanted = new Map();
    const isSame = this.task === task && this.isOpen === open;
    Object.assign(this, { task, isOpen: open });
    // Its parts stay if they can: a key that is pressed on one of them is let go of on the same.
    if (!isSame) this.build();
    this.toggleAttribute("data-saving", saving);
    this.note.hidden = !saving;
    for (const [part, { box, checked }] of this.boxes) box.checked = this.wanted.get(part) ?? checked;
  }

  build() {
    const { task, isOpen: open } = this;
    this.boxes = new Map();
    const part = this.contains(document.activeElement) ? document.activeElement.dataset.part : undefined;
    const written = this.field?.value;
    this.setAttribute("role", "listitem");
    this.dataset.todo = task.id;
    this.dataset.status = task.status;
    const steps = task.subtasks ?? [];
    const list = h("ul", { class: "steps-of", "aria-label": said.steps(task.title), hidden: !open }, steps.map((step, index) => this.step(step, index)));
    this.replaceChildren(this.line(steps, open), list, open && !isOver(task) ? this.adder(written) : "");
    // It is made anew when something changes; the focus stays on its part.
    if (part) (this.querySelector(`[data-part="${CSS.escape(part)}"]`) ?? this.querySelector("[data-part=box]")).focus();
  }

  line(steps, open) {
    const { task, acts } = this;
    const done = steps.filter(({ completed }) => completed).length;
    const box = this.box("box", isOver(task), isOver(task) ? said.reopen(task.title) : said.complete(task.title), () => acts.tick(task));
    const foot = [
      steps.length > 0 && h("span", { class: "todo-progress" }, said.progress(done, steps.length)),
      task.due_at && h("time", { datetime: task.due_at }, said.due(shortTime(task.due_at))),
      task.remind_at && h("time", { datetime: task.remind_at }, said.reminder(shortTime(task.remind_at))),
      task.recurrence && h("span", {}, said.repeats[task.recurrence.rule] ?? said.repeatsBy(task.recurrence.rule)),
      (this.note = h("span", { class: "todo-saving", hidden: true }, said.saving)),
    ];
    const fold = () => acts.fold(task, !open);
    const title = button(h("span", { dir: "auto" }, task.title), fold, { class: "todo-title", "aria-expanded": String(open), "data-part": "title", icon: "next" });
    const menu = iconButton("more", said.actions(task.title), (from) => acts.menu(task, from), { "data-part": "menu", "aria-haspopup": "menu" });
    return h("div", { class: "todo-line" }, box, title, menu, h("span", { class: "todo-foot" }, foot));
  }

  step(step, index) {
    const { task, acts } = this;
    const { id, title, completed } = step;
    const box = this.box(`step-${id}`, completed, completed ? said.reopen(title) : said.complete(title), () => acts.tickStep(task, step));
    const menu = iconButton("more", said.actions(title), (from) => acts.stepMenu(task, step, from), { "data-part": `menu-${id}`, "aria-haspopup": "menu" });
    const node = h("li", { class: "todo-step", "data-completed": String(completed) }, box, h("span", { class: "step-title", dir: "auto" }, title), menu);
    node.addEventListener("keydown", (event) => {
      const by = event.altKey ? { ArrowUp: -1, ArrowDown: 1 }[event.key] : undefined;
      const to = index + (by ?? 0);
      if (by === undefined || to < 0 || to >= task.subtasks.length) return;
      event.preventDefault();
      acts.moveStep(task, step, by);
    });
    return node;
  }

  /** A box that is shown as pressed until its order is over. Pressed again before anything came of it, it says the same. */
  box(part, checked, label, act) {
    const box = h("input", { type: "checkbox", "data-part": part, "aria-label": label });
    this.boxes.set(part, { box, checked });
    box.addEventListener("change", () => {
      if (this.wanted.has(part) && this.wanted.get(part) !== checked) {
        box.checked = !box.checked;
        return;
      }
      this.wanted.set(part, box.checked);
      act();
    });
    return box;
  }

  adder(written = "") {
    const { task, acts } = this;
    this.field = h("input", { type: "text", class: "input", placeholder: said.addStep, "aria-label": said.addStepTo(task.title), maxlength: "200", autocomplete: "off", dir: "auto", "data-part": "add" });
    this.field.value = written;
    const form = h("form", { class: "step-add" }, this.field);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const title = this.field.value.trim();
      if (title === "") return;
      this.field.value = "";
      acts.addStep(task, title);
    });
    return form;
  }
}

customElements.define("l3-todo", Todo);
