// Runs in the browser, for `approval.test.mjs`: shows approvals the way the page does, and looks at what came of them.

import "/components/approval.js";
import { FORBIDDEN_ELEMENTS, HOSTILE } from "./hostile.mjs";

const foreign = document.body.dataset.foreign;
let pwned = 0;
window.pwned = () => (pwned += 1);

const SOURCE = "export function weather() {\n  return 1;\n}";
const row = (fields = {}, shown = {}) => ({
  key: "approval:5",
  kind: "approval",
  id: 5,
  state: "pending",
  connected: true,
  expiresAt: new Date(Date.now() + 600_000).toISOString(),
  shown: {
    tool: "execute_sql",
    args: { query: "DROP TABLE books" },
    what: ["Deletes."],
    why: "",
    canAlways: false,
    ...shown,
  },
  ...fields,
});

function show(data) {
  const card = document.createElement("l3-approval");
  document.body.append(card);
  card.data = data;
  return card;
}

const capability = (text) => ({
  name: text,
  language: "javascript",
  source: text,
  replaces: 1,
  diff: `@@ -1 +1 @@\n-${text}\n+${text}`,
  grants: { http: { hosts: [text] } },
  grants_in_words: [text],
  differences: [{ before: text, [text]: 1 }],
});

function hostileApproval(text) {
  const args = { name: text, code: text, query: text, [text]: { deep: [text] } };
  return show(row({}, { tool: text, args, what: [`Runs ${text}`, text], why: text, capability: capability(text) }));
}

/** What the card itself is made of. */
const OURS = "svg.icon, h3[id], .approval-form, .approval-form [id]";

function lookFor(card) {
  const found = [...card.querySelectorAll(FORBIDDEN_ELEMENTS)].filter((node) => !node.matches(OURS));
  const handlers = [...card.querySelectorAll("*")].filter((node) =>
    [...node.attributes].some(({ name }) => /^on/.test(name)),
  );
  return [...found, ...handlers, ...card.querySelectorAll("a[href], strong em, h1, table")].map(
    (node) => node.outerHTML,
  );
}

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
async function until(check, what) {
  for (let tries = 0; tries < 1200; tries++) {
    if (check()) return;
    await wait(50);
  }
  throw new Error(`never happened: ${what}`);
}

const inCard = (card, testid) => card.querySelector(`[data-testid=${testid}]`);
const decisions = [];
addEventListener("decide", ({ detail }) => decisions.push(detail));

async function decide() {
  const checks = {};
  const card = show(row({}, { canAlways: true }));
  const approve = inCard(card, "approval-approve");
  checks.focus_stays_where_it_was = document.activeElement === document.body;
  checks.approve_does_not_work_at_first = approve.disabled;
  approve.click();
  approve.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  checks.a_click_too_early_decides_nothing = decisions.length === 0;
  card.scrollIntoView();
  await until(() => !approve.disabled, "Approve works when the card was in sight");
  checks.always_is_offered_where_it_means_something = !inCard(card, "approval-always").disabled;
  dispatchEvent(new Event("focus"));
  checks.approve_rests_when_the_window_comes_to_the_front = approve.disabled;
  await until(() => !approve.disabled, "Approve works again");
  approve.click();
  checks.approve_decides = JSON.stringify(decisions.at(-1)) === '{"approval":5,"decision":"approve"}';
  card.data = row({ sending: "approve" }, { canAlways: true });
  checks.nothing_works_while_a_decision_is_under_way = [...card.querySelectorAll("button")]
    .filter((button) => /appro|deny/.test(button.dataset.testid))
    .every((button) => button.disabled);
  card.data = row({ connected: false }, { canAlways: true });
  checks.nothing_works_without_a_line = approve.disabled && inCard(card, "approval-deny").disabled;
  card.data = row({}, { canAlways: true });
  const reason = inCard(card, "approval-reason");
  checks.what_was_written_as_a_reason_survives =
    (reason.value = " too wide ") && inCard(card, "approval-reason") === reason;
  card.querySelector("form").requestSubmit();
  checks.deny_decides_with_the_reason =
    JSON.stringify(decisions.at(-1)) === '{"approval":5,"decision":"deny","reason":"too wide"}';
  reason.focus();
  const settled = row({ state: "denied", channel: "page", reason: "<b>too wide</b>" }, { canAlways: true });
  card.data = settled;
  checks.the_decision_is_one_line = card
    .querySelector("details:not([open]) > summary")
    .textContent.includes("You denied this on the page");
  checks.the_reason_is_text = card.textContent.includes("<b>too wide</b>") && !card.querySelector("b");
  checks.no_button_is_left = card.querySelectorAll("button").length === 0;
  checks.focus_moves_to_the_line = document.activeElement === card.querySelector("summary");
  card.querySelector("details").open = true;
  await until(() => card.textContent.includes("DROP TABLE books"), "what was shown can be read again");
  const bare = show(row({ state: "expired", channel: "clock", shown: undefined }));
  checks.a_decision_whose_question_is_not_known_is_a_line = bare.textContent.includes("Nobody answered in time");
  const plain = show(row());
  checks.always_is_not_offered_where_it_means_nothing = inCard(plain, "approval-always") === null;
  return checks;
}

async function unread() {
  // Taller than the window, and only its end was ever in sight.
  document.body.replaceChildren();
  const source = Array.from({ length: 200 }, (_, line) => `let line${line} = ${line};`).join("\n");
  const space = document.createElement("div");
  space.style.height = "150vh";
  document.body.append(space);
  const card = show(row({}, { capability: { ...capability("weather"), source, diff: null } }));
  const approve = inCard(card, "approval-approve");
  approve.scrollIntoView({ block: "end" });
  await until(() => card.textContent.includes("once the beginning"), "it says what is missing");
  await wait(1500);
  const before = approve.disabled;
  card.scrollIntoView();
  await until(() => card.arming.sees.beginning, "the beginning comes into sight");
  approve.scrollIntoView({ block: "end" });
  await until(() => !approve.disabled, "Approve works after the beginning was in sight");
  return { approve_waits_until_the_beginning_was_read: before };
}

function shown() {
  const checks = {};
  const turned = "if (admin\u202e { return\u2066 \u200b}";
  const card = show(
    row(
      {},
      { args: { code: turned }, what: [`Runs ${turned}`], capability: { ...capability("weather"), source: turned } },
    ),
  );
  const code = card.querySelector(".exact.in-order:not(.diff) code");
  checks.direction_marks_are_written_out =
    code.textContent.includes("adminU+202E {") && !/[\u202e\u2066\u200b]/.test(card.textContent);
  checks.the_warning_says_so = card.querySelector(".hidden-warning") !== null;
  checks.characters_of_code_stand_in_stored_order = getComputedStyle(code).unicodeBidi === "bidi-override";
  const far = `a();${" ".repeat(90)}${"x".repeat(5000)} steal();`;
  const long = show(row({}, { args: { query: far } }));
  const pre = long.querySelector("pre");
  checks.long_lines_are_wrapped_and_whole = pre.scrollWidth <= pre.clientWidth + 1 && pre.textContent === far;
  checks.nothing_lies_outside_its_block = pre.scrollHeight <= pre.clientHeight + 1;
  const megabyte = show(row({}, { args: { query: "line of text\n".repeat(80_000) } }));
  checks.a_megabyte_is_shown_whole = megabyte.querySelector("pre").textContent.length === 80_000 * 13;
  const copied = show(row({}, { args: { query: SOURCE } }));
  const [bar, block] = copied.querySelector(".code").children;
  checks.the_copy_button_lies_over_nothing =
    bar.getBoundingClientRect().bottom <= block.getBoundingClientRect().top + 1;
  const diff = card.querySelector(".diff");
  checks.a_diff_says_by_sign_and_element_what_is_what =
    diff.querySelector("ins .diff-sign").textContent === "+" &&
    diff.querySelector("del .diff-sign").textContent === "−";
  return checks;
}

async function run() {
  const checks = await decide();
  Object.assign(checks, await unread());
  document.body.replaceChildren();
  Object.assign(checks, shown());
  const hostile = Object.entries(HOSTILE).map(([name, text]) => {
    const said = text.replaceAll("FOREIGN", foreign);
    const card = hostileApproval(said);
    const found = lookFor(card);
    const whole =
      card.querySelector("[data-testid=approval-what]").textContent === `Runs ${said}` &&
      card.querySelector("[data-testid=approval-grants]").textContent === said;
    card.data = row({ state: "denied", channel: "words", reason: said }, { tool: said, what: [said] });
    return { name, found: [...found, ...lookFor(card), ...(whole ? [] : ["it was changed"])] };
  });
  await wait(500);
  const before = pwned;
  // The counterproof: the same text as markup does run here.
  const control = document.createElement("div");
  document.body.append(control);
  control.innerHTML = HOSTILE["image with a handler"];
  for (let tries = 0; tries < 1200 && pwned === before; tries++) await wait(50);
  return { hostile, checks, pwned: before, control: { ran: pwned > before } };
}

const report = await run().catch((error) => ({ failure: String(error.stack) }));
await fetch("/report", { method: "POST", body: JSON.stringify(report) });
