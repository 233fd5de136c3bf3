// When a button that allows something may be pressed: not before what it allows has been in sight, and not in the moment it appears or
// the window comes to the front, when a click may have been meant for something else. No DOM here.

/** How long everything has to be in sight before the button works, in milliseconds. */
export const ARM_MS = 700;

/** Tells `changed(armed)` when the button may be pressed and when no longer. `clock` stands in for the browser's timers. */
export class Arming {
  constructor(changed, clock = globalThis) {
    Object.assign(this, { changed, clock });
    this.sees = { beginning: false, button: false, page: true };
    this.armed = false;
    this.timer = undefined;
  }

  /** Why the button does not work: `unread` (the beginning was never in sight), `soon`, or `undefined` when it works. */
  get reason() {
    if (this.armed) return undefined;
    return this.sees.beginning ? "soon" : "unread";
  }

  /** The beginning of what is allowed came into sight; having seen it once is enough. */
  beginningSeen() {
    if (this.sees.beginning) return;
    this.sees.beginning = true;
    this.start();
  }

  /** The button itself came into sight, or left it. */
  buttonSeen(seen) {
    this.see("button", seen);
  }

  /** The page came to the front, or went behind another. */
  pageSeen(seen) {
    this.see("page", seen);
  }

  /** Something happened after which the person should look again. */
  startOver() {
    this.stop();
    this.start();
  }

  /** Nothing is to be pressed any more. */
  stop() {
    this.clock.clearTimeout(this.timer);
    this.timer = undefined;
    if (this.armed) this.change(false);
  }

  see(what, seen) {
    if (this.sees[what] === seen) return;
    this.sees[what] = seen;
    if (seen) this.start();
    else this.stop();
  }

  start() {
    const { beginning, button, page } = this.sees;
    if (this.armed || this.timer !== undefined) return;
    if (!(beginning && button && page)) {
      this.changed(false);
      return;
    }
    this.timer = this.clock.setTimeout(() => {
      this.timer = undefined;
      this.change(true);
    }, ARM_MS);
    this.changed(false);
  }

  change(armed) {
    this.armed = armed;
    this.changed(armed);
  }
}
