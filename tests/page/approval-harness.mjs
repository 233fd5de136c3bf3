// Runs in the browser, for `approval.test.mjs`: shows approvals the way the page does, and looks at
// what came of them.

import "/ui/approval.js";
import "/chat/steps.js";
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

/** The elements that the card itself is made of. */
const OURS = "svg.icon, h2[id], .approval-form, .approval-form [id]";

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

const off = (button) => button.getAttribute("aria-disabled") === "true";
const inCard = (card, testid) => card.querySelector(`[data-testid=${testid}]`);
const decisions = [];
addEventListener("decide", ({ detail }) => decisions.push(detail));

async function decide() {
  const checks = {};
  const card = show(row({}, { canAlways: true }));
  const approve = inCard(card, "approval-approve");
  checks.focus_stays_where_it_was = document.activeElement === document.body;
  checks.approve_does_not_work_at_first = off(approve) && !approve.disabled;
  const why = () => document.getElementById(approve.getAttribute("aria-describedby")).textContent;
  checks.approve_says_why_it_does_not_work = why() !== "";
  approve.focus();
  checks.approve_takes_the_focus_before_it_works = document.activeElement === approve;
  approve.click();
  approve.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  checks.a_click_too_early_decides_nothing = decisions.length === 0;
  card.scrollIntoView();
  // Pressed before it works, and let go after: meant for something else.
  approve.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true }));
  await until(() => !off(approve), "Approve works when the card was in sight");
  approve.click();
  checks.a_key_pressed_too_early_decides_nothing = decisions.length === 0;
  checks.no_reason_is_left_once_it_works = why() === "";
  const [deny] = [inCard(card, "approval-deny")];
  const sameRow = Math.abs(deny.getBoundingClientRect().top - approve.getBoundingClientRect().top) < 4;
  checks.deny_and_approve_stand_together = sameRow && deny.compareDocumentPosition(approve) === Node.DOCUMENT_POSITION_FOLLOWING;
  const order = [...card.querySelectorAll(".approval-what, .approval-form, .exact")].map((node) => node.classList[0]);
  checks.what_happens_then_the_buttons_then_the_text = order.join() === "approval-what,approval-form,code";
  checks.always_is_offered_where_it_means_something = !off(inCard(card, "approval-always"));
  dispatchEvent(new Event("focus"));
  checks.approve_rests_when_the_window_comes_to_the_front = off(approve);
  await until(() => !off(approve), "Approve works again");
  approve.click();
  checks.approve_decides = JSON.stringify(decisions.at(-1)) === '{"approval":5,"decision":"approve"}';
  card.data = row({ sending: "approve" }, { canAlways: true });
  checks.nothing_works_while_a_decision_is_under_way = [...card.querySelectorAll("button")]
    .filter((button) => /appro|deny/.test(button.dataset.testid))
    .every(off);
  card.data = row({ connected: false }, { canAlways: true });
  checks.nothing_works_without_a_line = off(approve) && off(inCard(card, "approval-deny"));
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
  // Taller than the window: its source is folded, and at first not even its beginning is in sight.
  document.body.replaceChildren();
  const source = Array.from({ length: 200 }, (_, line) => `let line${line} = ${line};`).join("\n");
  const space = document.createElement("div");
  space.style.height = "150vh";
  document.body.append(space);
  const card = show(row({}, { args: { name: "weather" }, capability: { ...capability("weather"), source, diff: null, differences: [] } }));
  const approve = inCard(card, "approval-approve");
  const checks = {};
  const pre = [...card.querySelectorAll("pre")].find((each) => each.textContent.includes("line199"));
  const end = card.lastElementChild.lastElementChild.lastElementChild;
  end.scrollIntoView({ block: "end" });
  await until(() => card.textContent.includes("once the beginning"), "it says what is missing");
  await wait(1500);
  checks.approve_waits_until_the_beginning_was_read = off(approve);
  checks.long_text_is_folded_and_whole = pre.clientHeight < pre.scrollHeight && pre.textContent === source;
  checks.the_fold_says_how_much_there_is = inCard(card, "fold-open").textContent === "Show all 200 lines";
  card.scrollIntoView();
  await until(() => !card.arming.unseen.has("beginning"), "the beginning comes into sight");
  checks.the_buttons_are_in_sight_at_the_beginning = inSight(approve) && inSight(inCard(card, "approval-deny"));
  end.scrollIntoView({ block: "end" });
  await until(() => card.textContent.includes("folded text has been opened"), "it says that something is folded");
  await wait(1500);
  checks.approve_waits_until_what_is_folded_was_opened = off(approve) && card.dataset.armed === "rest";
  inCard(card, "fold-open").click();
  checks.opening_moves_the_focus_to_the_text = document.activeElement === pre && inCard(card, "fold-open") === null;
  checks.what_is_opened_is_whole = pre.clientHeight >= pre.scrollHeight - 1;
  card.scrollIntoView();
  await wait(1500);
  checks.approve_waits_until_the_end_was_in_sight = off(approve);
  for (const each of card.querySelectorAll(".approval-end")) {
    each.scrollIntoView({ block: "center" });
    await until(() => each.hasAttribute("data-seen"), "a part is seen to its end");
  }
  await until(() => !off(approve), "Approve works after all of it was in sight");
  checks.the_buttons_are_in_sight_at_the_end = inSight(approve) && inSight(inCard(card, "approval-deny"));
  return checks;
}

/** A person's own no, and a question that nobody answered, in the conversation and in the inbox. */
async function refused() {
  document.body.replaceChildren();
  const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/approvals/approvals.css" });
  await new Promise((resolve) => (sheet.addEventListener("load", resolve), document.head.append(sheet)));
  const place = document.createElement("div");
  const [danger, muted, warn] = ["danger", "muted", "warn"].map((name) => {
    const probe = document.createElement("p");
    probe.className = `is-${name}`;
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    return getComputedStyle(probe).color;
  });
  place.className = "place";
  place.dataset.place = "approvals";
  document.body.append(place);
  const lineOf = (state) => show(row({ state, channel: "page", shown: undefined })).querySelector(".approval-said");
  const entryOf = (state) => {
    const entry = document.createElement("span");
    entry.className = "decision-state";
    entry.dataset.state = state;
    place.append(entry);
    return entry;
  };
  const colours = (state) => [lineOf(state), entryOf(state)].map((node) => getComputedStyle(node).color);
  const checks = {
    a_persons_own_no_is_muted_and_not_red: danger !== muted && colours("denied").every((colour) => colour === muted),
    a_question_that_nobody_answered_is_no_failure: warn !== danger && colours("expired").every((colour) => colour === warn),
  };
  document.body.replaceChildren();
  const told = { denied: /You denied|did not allow|refused/g, expired: /Nobody|in time|refused by/g };
  for (const [state, sentence] of Object.entries(told)) {
    const steps = document.createElement("l3-steps");
    document.body.append(steps);
    const outcome = { ok: false, result: "The user refused this.", refusal: state, said: "It was refused." };
    const args = { query: "DROP TABLE books" };
    steps.data = { steps: [{ key: "call:1", kind: "tool", name: "execute_sql", args, state: "failed", came: "denied", called: true, lost: false, call: 1, kept: 0, outcome }], live: false };
    steps.querySelector("details").open = true;
    const line = show(row({ state, channel: "page" }));
    checks[`a_step_that_was_${state}_is_said_to_be_so_once`] = !steps.innerText.match(sentence) && line.innerText.match(sentence) !== null && steps.innerText.includes("Nothing was done.");
  }
  return checks;
}

const inSight = (node) => {
  const { top, bottom } = node.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
};

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
  checks.the_source_stands_there_once = [...card.querySelectorAll(".exact:not(.diff) code")].filter((each) => each.textContent.includes("adminU+202E")).length === 1;
  const diff = card.querySelector(".diff");
  checks.a_diff_says_by_sign_and_element_what_is_what =
    diff.querySelector("ins .diff-sign").textContent === "+" &&
    diff.querySelector("del .diff-sign").textContent === "−";
  return checks;
}

async function run() {
  const checks = await decide();
  Object.assign(checks, await unread());
  Object.assign(checks, await refused());
  document.body.replaceChildren();
  Object.assign(checks, shown());
  const marked = show(row({}, { what: ["Drops `notes`."], why: "It deletes (`execute_sql`)." }));
  checks.names_between_backticks_are_set_as_code =
    [...marked.querySelectorAll(".approval-what code, .approval-why code")].map((code) => code.textContent).join() === "notes,execute_sql" && !marked.textContent.includes("`");
  // Backticks in pairs mark a name; any other character stays.
  const seen = (text) => (text.split("`").length % 2 === 1 ? text.replaceAll("`", "") : text);
  const hostile = Object.entries(HOSTILE).map(([name, text]) => {
    const said = text.replaceAll("FOREIGN", foreign);
    const card = hostileApproval(said);
    const found = lookFor(card);
    const whole =
      card.querySelector("[data-testid=approval-what]").textContent === seen(`Runs ${said}`) &&
      card.querySelector("[data-testid=approval-grants]").textContent === seen(said);
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
