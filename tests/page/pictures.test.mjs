// Each screen has its pictures in `docs/screens`, and no picture is left of a screen that is gone.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { PAGES, PHONE_SCREENS, SAME, SCREENS, SIZES, THEMES, VOICE_SCREENS, WORKED_SCREENS } from "./support/screens.mjs";

const FOLDER = new URL("../../docs/screens/", import.meta.url);
const all = readdirSync(FOLDER).filter((name) => name.endsWith(".webp"));
const isSheet = (name) => name.startsWith("sheet-");
const inThemes = (names) => names.flatMap((name) => THEMES.map((theme) => `${name}-${theme}.webp`)).toSorted();

test("each_screen_has_a_picture_in_each_look_and_no_other_picture_is_there", () => {
  const everywhere = [...SCREENS, ...PAGES, ...VOICE_SCREENS, ...WORKED_SCREENS].map(({ name }) => name).filter((name) => !SAME.includes(name));
  const wanted = [...everywhere, "chat-empty"].flatMap((name) => Object.keys(SIZES).map((size) => `${name}-${size}`));
  const onPhone = PHONE_SCREENS.map(({ name }) => `${name}-phone`);
  assert.deepEqual(all.filter((name) => !isSheet(name)).toSorted(), inThemes([...wanted, ...onPhone]), "`just screens` makes them");
});

test("each_state_and_each_narrow_window_has_a_sheet_in_each_look_and_no_other_sheet_is_there", () => {
  const names = ["empty", "failing", "offline"].flatMap((state) => ["desk", "tablet", "phone"].map((window) => `sheet-${state}-${window}`));
  assert.deepEqual(all.filter(isSheet).toSorted(), inThemes([...names, "sheet-320", "sheet-zoom"]), "`just screens` makes them");
});

test("the_page_about_the_pictures_names_each_sheet", () => {
  const about = readFileSync(new URL("README.md", FOLDER), "utf8");
  const named = [...about.matchAll(/\((sheet-[^)]*)\)/g)].map(([, name]) => name);
  assert.deepEqual(named.toSorted(), all.filter(isSheet).toSorted());
});
