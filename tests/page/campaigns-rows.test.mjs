// The small functions of the place of campaigns that need no page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { badLines, isOver, steps } from "../../static/campaigns/rows.js";

test("a_campaign_is_steered_only_as_its_state_allows", () => {
  const all = { initializing: "start copy", active: "pause copy", paused: "resume cycle copy", completed: "copy", error: "copy" };
  for (const [status, deeds] of Object.entries(all)) assert.equal(steps({ status }).join(" "), deeds, status);
});

test("a_campaign_that_is_completed_or_broken_is_over", () => {
  assert.deepEqual(["initializing", "active", "paused", "completed", "error"].filter((status) => isOver({ status })), ["completed", "error"]);
});

test("a_refused_file_is_told_line_by_line", () => {
  assert.deepEqual(badLines("nothing was imported. line 2: full_name is empty; line 5: profile_url is `ftp; x`; it begins with https:// or http://"), {
    about: "nothing was imported.",
    lines: ["line 2: full_name is empty", "line 5: profile_url is `ftp; x`; it begins with https:// or http://"],
  });
  assert.deepEqual(badLines("campaign 3 is completed"), { about: "campaign 3 is completed", lines: [] });
});
