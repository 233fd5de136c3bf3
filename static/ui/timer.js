// The focus timer while it runs or stands still: a clock, the task, and what can be done with it.
// Between two changes the server says nothing; the clock counts by itself.

import { clockOf, leftOf } from "../core/countdown.js";
import { h } from "../core/dom.js";
import { serverNow } from "../core/server-clock.js";
import { styles } from "../core/styles.js";
import { wordsOf } from "../core/words.js";
import { button } from "./button.js";

await styles(import.meta.url, "timer.css");

const { timer: said } = await wordsOf("todo");
const SECOND = 1000;

/**
 * `<l3-timer>`: `data` has `timer` as the server gives it, and `title`, that of its task. Sends `press-timer` (detail: `{ name, done }`, the function
 * of the assistants, and what to call when it is over).
 */
export class Timer extends HTMLElement {
  set data({ timer, title }) {
    this.timer = timer;
    if (!this.clock) this.build();
    const isPaused = timer.state === "paused";
    this.dataset.state = timer.state;
    this.word.textContent = isPaused ? said.paused : said.running;
    this.title_.textContent = [title, said.of(timer.minutes)].filter(Boolean).join(" · ");
    const held = document.activeElement === this.pause || document.activeElement === this.resume;
    this.pause.hidden = isPaused;
    this.resume.hidden = !isPaused;
    // Either stands in the place of the other; so does the focus.
    if (held) (isPaused ? this.resume : this.pause).focus();
    this.show();
  }

  connectedCallback() {
    if (this.clock) this.show();
  }

  disconnectedCallback() {
    clearTimeout(this.next);
  }

  build() {
    this.dataset.testid = "timer";
    this.setAttribute("role", "group");
    this.setAttribute("aria-label", said.label);
    this.clock = h("span", { class: "timer-clock", role: "timer", "aria-live": "off" });
    this.word = h("span", { class: "timer-word" });
    this.title_ = h("span", { class: "timer-title", dir: "auto" });
    const press = (text, name) => button(text, () => this.press(name), { kind: "quiet", "data-testid": name });
    this.pause = press(said.pause, "pauseTimer");
    this.resume = press(said.resume, "resumeTimer");
    const stop = press(said.stop, "stopTimer");
    this.replaceChildren(this.clock, this.word, this.title_, h("span", { class: "timer-buttons" }, this.pause, this.resume, stop));
  }

  press(name) {
    return new Promise((done) => this.dispatchEvent(new CustomEvent("press-timer", { bubbles: true, detail: { name, done } })));
  }

  /** Shows the time that is left, and again when the next second begins. */
  show() {
    clearTimeout(this.next);
    const left = leftOf(this.timer, serverNow());
    const clock = clockOf(left);
    this.clock.textContent = clock;
    this.clock.setAttribute("aria-label", said.left(clock));
    if (this.timer.state === "running" && left > 0 && this.isConnected) this.next = setTimeout(() => this.show(), left % SECOND || SECOND);
  }
}

customElements.define("l3-timer", Timer);
