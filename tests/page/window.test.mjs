// The window over the rows of a conversation: which rows stand in the page, and how tall the gaps
// are.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { FIRST_ROWS, MOST_ROWS, RowWindow } = await load("chat/row-window.js");

const SCREEN = 900;
const rowsOf = (count, from = 0) => Array.from({ length: count }, (_, index) => ({ key: `row:${from + index}`, kind: "user" }));
/** A height of its own for each row, between 30 and 230. */
const tall = ({ key }) => 30 + ((Number(key.slice(4)) * 7919) % 201);

/** A page as a browser has it: what is scrolled by, and rows below each other. */
class Page {
  constructor(rows) {
    this.view = new RowWindow();
    this.view.change(rows, true);
    this.toEnd();
  }

  /** The rows and gaps with their places. */
  laid(pinned) {
    let top = 0;
    return this.view.shown(pinned).map((row) => {
      const height = row.kind === "gap" ? row.height : tall(row);
      top += height;
      return { row, top: top - height, bottom: top };
    });
  }

  toEnd() {
    this.view.toEnd();
    this.top = this.laid().at(-1).bottom - SCREEN;
  }

  box = (index) => {
    const { top, bottom } = this.laid().find(({ row }) => row === this.view.rows[index]);
    return { top: top - this.top, bottom: bottom - this.top };
  };

  inSight() {
    return this.laid().filter(({ top, bottom }) => bottom > this.top && top < this.top + SCREEN);
  }

  /** One frame: the window is fitted, and what is read stays where it is. */
  frame() {
    const anchor = this.inSight().find(({ row }) => row.kind !== "gap");
    const atEnd = this.top + SCREEN === this.laid().at(-1).bottom;
    if (!this.view.fit(SCREEN, this.box, { atEnd })) return false;
    if (atEnd) this.toEnd();
    if (atEnd) return true;
    const at = () => this.laid().find(({ row }) => row === anchor?.row)?.top;
    if (at() === undefined) return true;
    const seen = anchor.top - this.top;
    this.top += this.view.absorb(at() - anchor.top);
    assert.ok(Math.abs(at() - this.top - seen) < 0.01, `${anchor.row.key} stands still`);
    return true;
  }

  rest() {
    let count = 0;
    while (this.frame()) assert.ok((count += 1) < 400, "it comes to rest");
  }
}

test("a_screen_of_rows_is_made_at_once_and_some_more_around_it", () => {
  const page = new Page(rowsOf(3000));
  assert.equal(page.view.to - page.view.from, FIRST_ROWS);
  assert.equal(page.view.to, 3000);
  page.rest();
  const made = page.view.to - page.view.from;
  assert.ok(made > 20 && made < 100, `${made} rows`);
  const { top } = page.box(page.view.from);
  assert.ok(top <= -2 * SCREEN, "two screens ahead");
});

test("few_rows_stand_in_the_page_wherever_a_person_scrolls_and_there_is_always_something_to_read", () => {
  const page = new Page(rowsOf(3000));
  page.rest();
  for (let step = 0; page.top > 0 && step < 4000; step += 1) {
    page.top = Math.max(0, page.top - 133);
    page.frame();
    assert.ok(page.view.to - page.view.from <= MOST_ROWS);
    assert.ok(page.inSight().every(({ row }) => row.kind !== "gap"), `at step ${step}`);
  }
  assert.equal(page.view.from, 0);
  assert.equal(page.laid()[0].row.key, "row:0");
});

test("a_leap_makes_the_rows_of_the_place_it_goes_to", () => {
  const page = new Page(rowsOf(3000));
  page.rest();
  for (const part of [0.5, 0.1, 0.9, 0, 0.3]) {
    page.top = part * page.laid().at(-1).bottom;
    page.frame();
    page.rest();
    assert.ok(page.view.to - page.view.from <= MOST_ROWS);
    assert.ok(page.inSight().length > 0 && page.inSight().every(({ row }) => row.kind !== "gap"), `at ${part}`);
    const middle = (page.view.from + page.view.to) / 6000;
    assert.ok(Math.abs(middle - part) < 0.15, `${middle} of all rows at ${part} of the height`);
  }
});

test("rows_that_come_in_above_or_below_leave_the_window_with_the_rows_it_had", () => {
  const page = new Page(rowsOf(300, 1000));
  page.rest();
  page.top -= 8000;
  page.frame();
  page.rest();
  const before = page.view.rows.slice(page.view.from, page.view.to);
  page.view.change(rowsOf(1300), false);
  assert.deepEqual(page.view.rows.slice(page.view.from, page.view.to), before, "200 more above");
  page.view.change(rowsOf(1310), false);
  assert.deepEqual(page.view.rows.slice(page.view.from, page.view.to), before, "ten more below");
  page.view.change(rowsOf(1310), true);
  assert.equal(page.view.to, 1310, "at the end it goes on to the end");
});

test("much_that_comes_at_once_is_made_as_far_as_it_is_in_sight", () => {
  const page = new Page(rowsOf(30));
  page.view.change(rowsOf(400), true);
  assert.deepEqual([page.view.from, page.view.to], [400 - FIRST_ROWS, 400]);
});

test("with_a_screen_of_rows_ahead_a_frame_of_scrolling_makes_few_and_with_less_it_makes_what_is_wanted", () => {
  const page = new Page(rowsOf(3000));
  page.rest();
  const made = [];
  for (let step = 0; step < 200; step += 1) {
    page.top -= 100;
    const { from } = page.view;
    const calm = page.box(from).top < -SCREEN;
    page.frame();
    if (calm) made.push(from - page.view.from);
  }
  assert.ok(made.length > 100 && made.every((count) => count <= 2), `${made.join()}`);
  page.top = page.laid()[1].top - 500;
  const { from } = page.view;
  page.frame();
  assert.ok(from - page.view.from >= 4, "what is in sight is not waited for");
});

test("rows_that_come_at_the_end_leave_the_gap_above_as_it_is_and_the_gap_is_always_the_same_one", () => {
  const page = new Page(rowsOf(1000));
  page.rest();
  const [gap] = page.view.shown();
  const { above } = page.view;
  page.view.above = above - 7;
  page.view.change(rowsOf(1001), true);
  assert.equal(page.view.above, above - 7, "nothing is added up anew");
  page.top -= 3000;
  page.rest();
  assert.equal(page.view.shown()[0].key, gap.key);
});

test("pinned_rows_stand_among_gaps_in_their_order", () => {
  const page = new Page(rowsOf(1000));
  page.view.about(500);
  const kinds = page.view.shown([3, 510, 990]).map(({ key, kind }) => (kind === "gap" ? "gap" : key));
  const { from, to } = page.view;
  assert.deepEqual(kinds.filter((key) => key === "gap").length, 4);
  assert.deepEqual([kinds[0], kinds[1], kinds[2], kinds[3]], ["gap", "row:3", "gap", `row:${from}`]);
  assert.deepEqual(kinds.slice(-4), [`row:${to - 1}`, "gap", "row:990", "gap"]);
  assert.equal(new Set(page.view.shown([3, 510, 990]).map(({ key }) => key)).size, kinds.length, "each has a key of its own");
});

test("text_that_is_selected_is_kept_as_long_as_may_be", () => {
  const page = new Page(rowsOf(3000));
  page.rest();
  for (let step = 0; step < 400; step += 1) {
    page.top -= 133;
    const { from } = page.view;
    page.view.fit(SCREEN, page.box, { hold: true });
    if (page.view.from < from && page.view.to - page.view.from > MOST_ROWS) break;
    assert.ok(page.view.to - page.view.from <= MOST_ROWS + FIRST_ROWS);
  }
  assert.ok(page.view.to - page.view.from > 150);
});
