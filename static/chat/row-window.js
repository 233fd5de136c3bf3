// Which rows of a conversation stand in the page: those in sight, and some screens around them.
// Rows before and after are gaps of about their height. No DOM here: the list says how tall things
// are.

/** So many rows are made at once: a screen. Others come a few in each frame, as far as a person may scroll next. */
export const FIRST_ROWS = 16;
const MORE_ROWS = 4;
/** So many come in each frame while there is a screen of them yet: two in one frame made a wheel leave out every twentieth. */
const CALM_ROWS = 1;
/** Rows are made so many screens ahead of what is in sight, and let go of when they are further away than that. */
const AHEAD_SCREENS = 2;
const KEPT_SCREENS = 4;
/** No more rows stand in the page, whatever holds them there. */
export const MOST_ROWS = 300;
/** The height of a row before any was seen. */
const GUESS_PX = 90;

/** The rows from `from` to before `to`, of all `rows`. */
export class RowWindow {
  rows = [];
  from = 0;
  to = 0;
  /** How much lies above the first row of the window, in pixels. */
  above = 0;
  /** key → the height that the row had when it was let go of; all of them together. */
  heights = new Map();
  known = 0;
  mean = GUESS_PX;

  has = (index) => index >= this.from && index < this.to;

  /** The heights of these rows, as far as they are known. */
  height(from, to) {
    let sum = 0;
    for (let index = from; index < to; index += 1) sum += this.heights.get(this.rows[index].key) ?? this.mean;
    return sum;
  }

  move(from, to) {
    this.from = Math.max(0, from);
    this.to = Math.min(this.rows.length, to);
  }

  /** Other rows: the window stays with those that it had; for a person at the end it goes on to the end. True if it is another one now. */
  change(rows, atEnd) {
    const { rows: before, from, to } = this;
    this.rows = rows;
    const isSame = before.length === rows.length && (!atEnd || to === rows.length) && from < to && rows[from].key === before[from].key && rows[to - 1].key === before[to - 1].key;
    if (isSame) return false;
    const shift = rows.length - before.length;
    const find = ({ key }, index) => [index, index + shift].find((at) => rows[at]?.key === key) ?? rows.findIndex((row) => row.key === key);
    const had = before.slice(from, to).map((row, index) => find(row, from + index)).filter((at) => at !== -1);
    const [first, end] = had.length > 0 ? [Math.min(...had), Math.max(...had) + 1] : [Infinity, rows.length];
    // Rows that came in all at once are made as far as they are in sight; so are those that came
    // while nobody looked.
    const isMuch = first === Infinity || rows.length - end >= FIRST_ROWS || rows.length - first > MOST_ROWS;
    if (atEnd || first === Infinity) this.move(isMuch ? rows.length - FIRST_ROWS : first, rows.length);
    else this.move(first, end);
    // Rows that came in at the end change nothing above.
    const isOther = this.from !== from || rows[from]?.key !== before[from]?.key;
    if (isOther) this.above = this.height(0, this.from);
    return true;
  }

  /** The window with the row at `index` in it. */
  about(index) {
    this.move(index - MORE_ROWS, index + FIRST_ROWS);
    this.above = this.height(0, this.from);
  }

  /** The last rows; true if the window did not reach them. */
  toEnd() {
    if (this.to === this.rows.length) return false;
    this.move(this.rows.length - FIRST_ROWS, this.rows.length);
    this.above = this.height(0, this.from);
    return true;
  }

  /**
   * Brings the window nearer to what is in sight; true if it is another one now. `box(index)` has the `top` and `bottom` of a row of the window,
   * seen from the top of what is in sight, and `screen` is how much that is. `atEnd`: what lies above may be taller or lower than it was thought
   * to be, since only the end is looked at. `hold`: rows are kept as long as may be.
   */
  fit(screen, box, { atEnd = false, hold = false } = {}) {
    const { from, to } = this;
    if (from === to) return false;
    const { top } = box(from);
    const { bottom } = box(to - 1);
    this.mean = Math.max(1, (this.known + bottom - top) / (this.heights.size + to - from));
    const ahead = to - from < MOST_ROWS ? AHEAD_SCREENS * screen : 0;
    if ((bottom <= 0 && to < this.rows.length) || (top >= screen && from > 0)) this.jump(this.above - top);
    else {
      if (!hold || to - from > MOST_ROWS - 2 * FIRST_ROWS) this.letGo(screen, box);
      if (this.from === from && top > -ahead) this.move(from - this.wanted(top, screen), this.to);
      if (this.to === to && bottom < screen + ahead) this.move(this.from, to + this.wanted(screen - bottom, screen));
      if (this.from < from) this.above = this.from === 0 ? 0 : Math.max(0, this.above - this.height(this.from, from));
      if (this.from !== from && atEnd) this.above = this.height(0, this.from);
    }
    return this.from !== from || this.to !== to;
  }

  /** How many rows to make where rows are wanted in `px` of what is in sight; below 0 there are some, and beyond a screen of them few more will do. */
  wanted = (px, screen) => (px < -screen ? CALM_ROWS : Math.max(MORE_ROWS, Math.ceil(px / this.mean)));

  /** Lets go of what is far away, and remembers how tall it was. */
  letGo(screen, box) {
    const note = (index, px) => {
      const { key } = this.rows[index];
      this.known += px - (this.heights.get(key) ?? 0);
      this.heights.set(key, px);
    };
    for (let next = box(this.from); this.from < this.to - 1 && next.bottom < -KEPT_SCREENS * screen; this.from += 1) {
      const { top } = next;
      next = box(this.from + 1);
      note(this.from, next.top - top);
      this.above += next.top - top;
    }
    for (let next = box(this.to - 1); this.to > this.from + 1 && next.top > (1 + KEPT_SCREENS) * screen; this.to -= 1) {
      const { bottom } = next;
      next = box(this.to - 2);
      note(this.to - 1, bottom - next.bottom);
    }
  }

  /** The window goes to a place far from it, by the heights of all that lies above. */
  jump(place) {
    let at = 0;
    let above = 0;
    for (let next = this.height(0, 1); at < this.rows.length - 1 && above + next <= place; next = this.height(at, at + 1)) {
      above += next;
      at += 1;
    }
    this.above = above;
    this.move(at, at + FIRST_ROWS);
  }

  /** Takes up with the gap above that the window has moved by `px`; gives what is left of it. */
  absorb(px) {
    const above = this.from === 0 ? 0 : Math.max(0, this.above - px);
    const left = px - (this.above - above);
    this.above = above;
    return left;
  }

  /** The rows for the page: those of the window, the `pinned` ones (their indices, in order) wherever they are, and gaps between. */
  shown(pinned = []) {
    const { rows, from, to } = this;
    const list = [];
    let end = 0;
    const gap = (key, height) => height > 0 && list.push({ key: `gap:${key}`, kind: "gap", height });
    const pin = (index) => {
      gap(rows[index].key, this.height(end, index));
      list.push(rows[index]);
      end = index + 1;
    };
    for (const index of pinned) if (index < from) pin(index);
    // Always the same one: while a person scrolls only its height changes.
    if (from > end) gap("above", this.above - (end > 0 ? this.height(0, end) : 0));
    list.push(...rows.slice(from, to));
    end = to;
    for (const index of pinned) if (index >= to) pin(index);
    if (end < rows.length) gap("end", this.rest(end));
    return list;
  }

  /** The height of all below the last row that is there. It is added up once for each place: text that is written there changes little. */
  rest(end) {
    const { length } = this.rows;
    if (this.below?.end !== end || this.below.length !== length) this.below = { end, length, px: this.height(end, length) };
    return this.below.px;
  }
}
