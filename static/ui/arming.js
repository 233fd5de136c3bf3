// When a button that allows something may be pressed: not before all that it allows has been in
// sight, and not in the moment it appears or the window comes to the front, when a click may have
// been meant for something else. No DOM here.

/** How long everything has to be in sight before the button works, in milliseconds. */
export const ARM_MS = 700;

/** Tells `changed(armed)` when the button may be pressed and when no longer. `clock` stands in for the browser's timers. */
export class Arming {
  constructor(changed, clock = globalThis) {
    Object.assign(this, { changed, clock });
    /** The parts that were never in sight yet; having seen one once is enough. */
    this.unseen = new Set(["beginning"]);
    this.sees = { button: false, page: true };
    this.armed = false;
    this.timer = undefined;
  }

  /** Why the button does not work: `unread` (the beginning was never in sight), `rest` (something else was not), `soon`, or `undefined`. */
  get reason() {
    if (this.armed) return undefined;
    if (this.unseen.has("beginning")) return "unread";
    return this.unseen.size > 0 ? "rest" : "soon";
  }

  /** One more part that has to come into sight, whole. */
  needs(part) {
    this.unseen.add(part);
    this.stop();
  }

  /** A part came into sight, to its end. */
  partSeen(part) {
    if (this.unseen.delete(part)) this.start();
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
    const { button, page } = this.sees;
    if (this.armed || this.timer !== undefined) return;
    if (this.unseen.size > 0 || !button || !page) {
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

/** Tells a card (`kind` is `approval` or `question`) its row, which styles and tests know it by; gives the row that it had. */
export function told(card, row, kind) {
  const before = card.row;
  Object.assign(card, { row, className: `row ${kind}` });
  Object.assign(card.dataset, { testid: kind, approval: row.id, state: row.state });
  return before;
}
