// Runs in the browser, for `list.test.mjs`: puts texts that mean harm, DOMPurify's own among them,
// through the real message list, beside an approval and the composer, and looks at what is left.

// The list loads it when the first one waits; here every list is looked at at once.
import "/ui/approval.js";
import "/chat/composer.js";
import "/chat/answer.js";
import "/chat/message.js";
import "/chat/messages.js";
import "/chat/note.js";
import "/chat/tool-card.js";
import { createDrafts } from "/chat/draft.js";
import { FORBIDDEN_ELEMENTS, HOSTILE } from "./hostile.mjs";
import FIXTURES from "./vendor/dompurify-3.4.14-expect.mjs";

const foreign = document.body.dataset.foreign;
let pwned = 0;
// The function that the fixtures would run.
for (const name of ["pwned", "alert", "confirm", "prompt", "xss"]) window[name] = () => (pwned += 1);
const errors = [];
addEventListener("error", ({ message }) => errors.push(message));

/** Texts that leave a parser without the root that others expect. */
const ROOTS = {
  frameset: "<frameset>",
  "frameset with frames": "<frameset onload=pwned()><frame src='FOREIGN/frame' onload=pwned()></frameset>",
  "frameset in a text": "Here it is:\n\n<frameset></frameset>\n\nand more",
  "root and head": "<html><head><base href='FOREIGN/'></head><frameset><noframes><body onload=pwned()>x",
  body: "<body onload=pwned()>hello",
  "nested without end": "> ".repeat(6_000) + "deep",
  "tags without end": "<b>".repeat(6_000) + "deep",
};

const LISTS = 40;
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const said = (key, content) => ({ key: `said:${key}`, kind: "user", content, images: [], steered: false });
const answered = (key, content) => ({ key, kind: "assistant", content, final: true, unproven: false, streaming: false, partial: false });
const asked = (key, text) => ({
  key: `approval:${key}`,
  kind: "approval",
  id: 5,
  state: "pending",
  connected: true,
  shown: { tool: "execute_sql", args: { query: text }, what: [text], why: text, canAlways: false },
});

function newList(name) {
  const box = document.createElement("div");
  const list = document.createElement("l3-messages");
  const composer = document.createElement("l3-composer");
  box.dataset.name = name;
  box.append(list, composer);
  document.body.append(box);
  composer.drafts = createDrafts({ getItem: () => null, setItem() {}, removeItem() {} });
  return { box, list, composer };
}

/** Makes every row: as a rule only those near what is in sight are. */
function reveal(list) {
  list.view.move(0, list.view.rows.length);
  list.draw();
}

const show = (list, rows) => (list.data = { rows, hasEarlier: false, greeting: undefined });

/** The faults of a list that was given these rows, in words. */
function wrong({ box, list, composer }, rows) {
  const found = [];
  if (!box.isConnected || !list.isConnected || !composer.querySelector("textarea")) found.push("the page is gone");
  const shown = [...list.list.children];
  if (shown.length !== rows.length) found.push(`${shown.length} rows of ${rows.length}`);
  const empty = (node) => node && node.textContent.replace("level3: ", "").trim() === "" && !node.querySelector("img, hr");
  const mustShow = new Set(Object.keys(ROOTS));
  rows.forEach((row, index) => {
    const node = shown[index];
    if (node?.dataset.kind !== row.kind) found.push(`row ${row.key} is not in its place`);
    if (row.kind === "approval" && !node?.querySelector("[data-testid=approval-deny]")) found.push("an approval cannot be decided");
    if (mustShow.has(row.key) && empty(node)) found.push(`row ${row.key} shows nothing`);
  });
  for (const message of list.querySelectorAll("l3-assistant, l3-user, .as-text"))
    found.push(...[...message.querySelectorAll(FORBIDDEN_ELEMENTS)].map((node) => node.outerHTML.slice(0, 200)));
  return found;
}

function texts() {
  const named = [...Object.entries(HOSTILE), ...Object.entries(ROOTS)];
  const fixtures = FIXTURES.map(({ title, payload }, index) => [`fixture ${index}: ${title ?? ""}`, payload]);
  return [...named, ...fixtures].map(([name, text]) => [name, text.replaceAll("FOREIGN", foreign)]);
}

async function run() {
  const all = texts();
  const failures = [];
  const report = (name, found) => found.length > 0 && failures.push({ name, found });
  // All of them in one list, with an approval at its end.
  const whole = newList("whole");
  const rows = all.flatMap(([name, text]) => [said(name, text), answered(name, text)]).concat(asked("whole", "DROP TABLE notes"));
  show(whole.list, rows);
  reveal(whole.list);
  report("all in one list", wrong(whole, rows));
  // After a reload the list is made anew.
  whole.box.remove();
  const again = newList("again");
  show(again.list, rows);
  reveal(again.list);
  report("all after a reload", wrong(again, rows));
  again.box.remove();
  // Each alone, as an answer that grows, beside an approval that holds the text.
  for (let from = 0; from < all.length; from += LISTS) {
    const made = all.slice(from, from + LISTS).map(([name, text]) => {
      const one = newList(name);
      const rows = [said(name, "hello"), answered(name, text), asked(name, text)];
      for (const part of [text.slice(0, text.length / 2), text]) show(one.list, [rows[0], answered(name, part), rows[2]]);
      show(one.list, rows);
      return { one, rows, name };
    });
    await wait(20);
    for (const { one, rows, name } of made) {
      report(name, wrong(one, rows));
      one.box.remove();
    }
  }
  const checks = { ...broken(), ...frames() };
  await wait(500);
  const before = pwned;
  const control = document.createElement("div");
  document.body.append(control);
  control.innerHTML = HOSTILE["image with a handler"];
  for (let tries = 0; tries < 1200 && pwned === before; tries++) await wait(50);
  return { tried: all.length, fixtures: FIXTURES.length, failures, checks, errors, pwned: before, control: { ran: pwned > before } };
}

/** A row that no element can show. */
function broken() {
  const one = newList("broken");
  const rows = [
    said("a", "hello"),
    { ...answered("b", "x"), content: { toString: 1 } },
    { key: "call:1", kind: "tool", name: {}, args: 7n, state: { bad: true }, outcome: {}, operations: 5 },
    asked("c", "DROP TABLE notes"),
    { ...asked("d", ""), shown: { what: 3 } },
    answered("e", "the end"),
  ];
  show(one.list, rows);
  const shown = [...one.list.list.children];
  const checks = {
    a_broken_row_takes_no_other_with_it:
      shown.length === 6 && shown[0].textContent.includes("hello") && shown[5].textContent.includes("the end"),
    the_approval_beside_a_broken_row_can_be_decided: shown[3]?.querySelector("[data-testid=approval-deny]") !== null,
    a_broken_row_is_shown_as_text: shown[1]?.classList.contains("as-text") && shown[4]?.classList.contains("as-text"),
  };
  rows[1] = answered("b", "mended");
  show(one.list, rows);
  checks.a_row_that_was_broken_is_shown_when_it_is_mended = one.list.list.children[1].querySelector(".markdown")?.textContent.trim() === "mended";
  one.box.remove();
  return checks;
}

/** A row that cannot be made safe is shown as the text it is, and those around it as ever. */
function frames() {
  const one = newList("frames");
  show(one.list, [answered("a", "**before**\n\n<frameset>\n\n**after**"), answered("b", "next")]);
  const [first, second] = one.list.list.children;
  const checks = {
    a_frameset_is_shown_as_text: first.textContent.includes("<frameset>"),
    what_stands_around_it_is_shown_as_ever: first.querySelectorAll("strong").length === 2 && second.textContent.includes("next"),
  };
  one.box.remove();
  return checks;
}

const result = await run().catch((error) => ({ failure: String(error.stack) }));
await fetch("/report", { method: "POST", body: JSON.stringify(result) });
