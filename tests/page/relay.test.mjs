// Relay's place: the list, one instance, messages of which nobody knows, channels with the code to
// scan, and the test phones.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { qrRows } from "../../static/core/qr.js";
import { oneAtATime } from "../../static/core/one-at-a-time.js";
import { noSend, steps } from "../../static/relay/rows.js";
import { relayWorld } from "./support/relay-world.mjs";
import { openScreen } from "./support/screens.mjs";
import { serveScreens } from "./support/screens-server.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";
import { fullWorld } from "./support/worlds.mjs";

const DESK = [1440, 900];
const CONTROL = "\uE009";
const ENTER = "\uE007";

/** The first digits of the sha256 of the rows that another encoder makes (qrcode 8.2 for Python, level L, bytes), for texts of several versions. */
const CODES = [
  ["2@abc", 21, "acd9a21d658274d6"],
  ["q".repeat(17), 21, "add6cd556d28b688"],
  ["q".repeat(18), 25, "e1843d32f9bbe053"],
  ["x".repeat(100), 37, "8329f9290d7ddd42"],
  [`2@${"A1b/".repeat(60)}==`, 57, "5aef224dc063fbc7"],
  ["ä".repeat(300), 85, "930a0e25e3e03a18"],
  ["y".repeat(2000), 149, "4ef4753c6b04cbc8"],
];

test("a_code_is_the_one_that_another_encoder_draws", () => {
  for (const [text, size, digest] of CODES) {
    const rows = qrRows(text).map((row) => row.map(Number).join(""));
    assert.equal(rows.length, size);
    assert.equal(createHash("sha256").update(rows.join("\n")).digest("hex").slice(0, 16), digest, text.slice(0, 8));
  }
});

test("a_text_that_no_code_holds_has_none", () => {
  assert.equal(qrRows("z".repeat(2953)).length, 177);
  assert.equal(qrRows("z".repeat(2954)), undefined);
});

test("an_instance_is_steered_only_as_its_state_allows", () => {
  const all = { ACTIVE: "pause cancel", QUEUED: "pause cancel", PAUSED: "resume cancel", NEEDS_HUMAN_INTERVENTION: "resume cancel", COMPLETED: "", FAILED: "", ABANDONED: "" };
  for (const [state, deeds] of Object.entries(all)) assert.equal(steps({ state }).join(" "), deeds, state);
  assert.deepEqual(["ACTIVE", "NEEDS_HUMAN_INTERVENTION", "PAUSED", "QUEUED", "FAILED"].map((state) => noSend({ state })), [undefined, undefined, "PAUSED", "QUEUED", "ended"]);
});

test("what_is_asked_for_meanwhile_is_asked_once_more_and_not_at_once", async () => {
  let running = 0;
  let count = 0;
  let go;
  const ask = oneAtATime(async () => {
    assert.equal((running += 1), 1, "one at a time");
    count += 1;
    await new Promise((resolve) => (go = resolve));
    running -= 1;
  });
  const first = ask();
  ask();
  ask();
  go();
  while (count < 2) await new Promise(setImmediate);
  go();
  await first;
  assert.equal(count, 2);
});

let browser;
before(async () => {
  if (!skip) browser = await startBrowser();
});
after(async () => browser?.end());

/** Runs `work` on a page of this place at `hash`. */
async function on(hash, work) {
  const now = Date.now();
  const relay = relayWorld((later) => new Date(now + later).toISOString());
  const world = fullWorld(now);
  Object.assign(world.api, relay.answers);
  const server = await serveScreens(world);
  try {
    await browser.size(...DESK);
    await openScreen(browser, server.address, { hash, steps: [] });
    await work({ relay, server, world });
    assert.deepEqual((await browser.errors()).filter((text) => !text.includes("Failed to load resource")), []);
  } finally {
    server.end();
  }
}
const see = (css, text) => browser.waitFor(`const node = document.querySelector(arguments[0]); return node?.checkVisibility() && node.innerText.includes(arguments[1])`, css, text);
const click = (css) => browser.js(`document.querySelector(arguments[0]).click()`, css);
const until = (test) => browser.waitFor(`return ${test}`);

test("instances_are_listed_with_their_states_and_open_by_their_address", { skip }, () =>
  on("#relay", async () => {
    await see("[data-instance='7']", "Waiting for a reply");
    await see("[data-instance='7']", "1 of 3 to-dos");
    await see("[data-instance='7']", "1 unknown message");
    await click("[data-testid=relay-list] [data-value=ended]");
    await until(`[...document.querySelectorAll("l3-relay-instance")].map((node) => node.dataset.instance).join() === "3,2"`);
    await click("[data-instance='3'] a");
    await see("[data-testid=relay-detail]", "The viewing is on Friday at 15:00.");
    assert.equal(await browser.js("return location.hash"), "#relay/3");
    await see("[data-testid=relay-no-send]", "It has ended");
    await click("[data-testid=relay-back]");
    await see("[data-testid=relay-list]", "Completed");
  }));

test("a_contacts_words_are_text", { skip }, () =>
  on("#relay/7", async () => {
    await see("[data-message='32']", "<img src=x onerror=alert(1)>");
    assert.equal(await browser.js(`return document.querySelector("l3-relay-message img")`), null);
    assert.equal(await browser.js(`return document.querySelectorAll("[data-message='32'] .hidden-character").length`), 1, "what turns the line around is seen");
    assert.doesNotMatch(await browser.js(`return document.querySelector("[data-message='32'] .relay-text").textContent`), /\u202e/);
    await see("[data-message='32']", "It was longer than 16 KiB");
    await see("[data-message='32']", "image/png, 21 KB");
    await see("[data-message='31'] [data-testid=relay-delivery]", "read");
    await see("[data-message='34']", "follow-up");
  }));

test("a_message_of_the_operator_is_named_as_such", { skip }, async () => {
  await on("#operator", async ({ relay }) => {
    relay.messages.set(undefined, [{ ...relay.messages.get(7)[2], id: 51, text: "Task 4 asks before it goes on." }]);
    await browser.js(`location.hash = "#relay"`);
    await see("[data-message='51'] a", "of the operator");
  });
});

test("an_objective_that_turns_text_is_written_out_in_the_list_and_by_itself", { skip }, () =>
  on("#relay/7", async ({ relay }) => {
    await see("[data-testid=relay-state]", "Waiting for a reply");
    Object.assign(relay.instances.get(7), { objective: "\u202eAsk", todos: [{ id: 1, text: "\u2067one", status: "open" }] });
    await browser.js(`location.hash = "#relay"`);
    await see("[data-instance='7'] .relay-objective", "U+202E");
    await click("[data-instance='7'] a");
    await see("[data-testid=relay-detail] .relay-objective", "U+202E");
    await see("[data-testid=relay-detail]", "U+2067");
  }));

test("a_message_of_which_nobody_knows_is_resent_or_settled", { skip }, async () => {
  await on("#relay", async ({ relay }) => {
    await see("[data-testid=relay-unknown]", "the server ended while it was being sent");
    await click("[data-testid=relay-unknown] [data-testid=relay-resend]");
    await until(`document.querySelector("[data-testid=relay-unknown]").hidden`);
    assert.deepEqual(relay.asked, ["resend 33"]);
    await until(`document.activeElement.dataset.testid === "relay"`);
  });
  for (const [part, as, shown] of [["was-sent", "sent", "sent"], ["was-lost", "lost", "failed"]]) {
    await on("#relay/7", async ({ relay }) => {
      await see("[data-message='33']", "unknown");
      await click(`[data-message='33'] [data-testid=relay-${part}]`);
      await see("[data-message='33'] [data-testid=relay-delivery]", shown);
      assert.deepEqual(relay.asked, [`settle 33 ${as}`]);
      await until(`document.activeElement.dataset.message === "33"`);
    });
  }
});

test("an_instance_is_paused_resumed_and_cancelled_after_a_question", { skip }, () =>
  on("#relay/7", async ({ relay }) => {
    await see("[data-testid=relay-state]", "Waiting for a reply");
    await click("[data-testid=relay-pause]");
    await see("[data-testid=relay-state]", "Paused");
    await see("[data-testid=relay-no-send]", "It is paused");
    await click("[data-testid=relay-resume]");
    await see("[data-testid=relay-state]", "Active");
    await click("[data-testid=relay-cancel]");
    assert.deepEqual(relay.asked, ["pause 7", "resume 7"]);
    await click("[data-testid=confirm]");
    await see("[data-testid=relay-state]", "Failed");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=relay-cancel]")`), null);
  }));

test("a_person_takes_over_by_keyboard_and_keeps_what_was_refused", { skip }, () =>
  on("#relay/5", async ({ relay }) => {
    await see("[data-testid=relay-detail]", "They ask for a U+202Ediscount.");
    await browser.js(`document.querySelector("[data-testid=relay-text]").focus()`);
    await browser.keys(..."too fast");
    await browser.chord(CONTROL, ENTER);
    await see(".relay-compose .wrong", "The pace is used up");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=relay-text]").value`), "too fast");
    await browser.js(`const text = document.querySelector("[data-testid=relay-text]"); text.value = "Ten percent."; text.focus()`);
    await browser.chord(CONTROL, ENTER);
    await see("[data-testid=relay-transcript]", "Ten percent.");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=relay-text]").value`), "");
    assert.deepEqual(relay.asked, ["send 5 too fast 36", "send 5 Ten percent. 36"], "each with a key of its own");
  }));

test("channels_show_their_state_the_code_and_the_pace", { skip }, () =>
  on("#relay", async ({ relay }) => {
    await see("[data-channel=whatsapp]", "Waits to be linked");
    await see("[data-channel=whatsapp]", "scan this code");
    const box = await browser.waitFor(`const code = document.querySelector("[data-testid=relay-qr]"); return code && code.getAttribute("viewBox")`);
    assert.equal(box, "-4 -4 65 65");
    await see("[data-channel=whatsapp] [data-testid=relay-pace]", "10 of 10");
    assert.equal(await browser.js(`return [...document.querySelectorAll("[data-channel=whatsapp] .budget")].map((node) => node.dataset.state).join()`), "free,near,reached");
    Object.assign(relay.channels[1], { state: "online", qr: null, address: "+491711111111", no_first_contacts: "The service refused a message: 463." });
    await see("[data-channel=whatsapp]", "+491711111111");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=relay-qr]")`), null);
    await see("[data-channel=whatsapp]", "The service refused a message: 463.");
    await click("[data-testid=relay-unlock]");
    await until(`document.querySelector("[data-testid=relay-unlock]") === null`);
    await click("[data-testid=relay-logout]");
    await click("[data-testid=confirm]");
    await see("[data-channel=whatsapp]", "Logged out");
    assert.deepEqual(relay.asked, ["unlock", "logout"]);
  }));

test("a_webhook_is_added_tried_and_removed_by_keyboard_and_its_secret_is_shown_once", { skip }, () =>
  on("#relay", async ({ relay }) => {
    await see("l3-relay-webhook", "https://crm.example/hooks/relay");
    await see("l3-relay-webhook", "with the reason · 2 changes wait to be told · 1 change was never told · It answered 500.");
    await browser.js(`document.querySelector("[data-testid=webhook-url]").focus()`);
    await browser.keys(..."ftp://x", ENTER);
    await see("[data-testid=relay-webhooks] .wrong", "An address begins with https://.");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=relay-webhooks] .wrong").textContent`), "An address begins with https://.", "no name of a field, and no backtick");
    assert.equal(await browser.js(`return document.querySelector("[data-testid=webhook-url]").value`), "ftp://x", "what was typed stays");
    await browser.js(`document.querySelector("[data-testid=webhook-url]").select()`);
    await browser.keys(..."https://a.example/x", ENTER);
    await see("[data-testid=webhook-secret]", "whsec-4711");
    await see("l3-relay-webhook:last-child", "https://a.example/x");
    await browser.js(`document.querySelector("l3-relay-webhook:last-child [data-testid=webhook-test]").focus()`);
    await browser.keys(ENTER);
    await see("l3-relay-webhook:last-child", "It was told, and answered 204.");
    await click("l3-relay-webhook [data-testid=webhook-test]");
    await see("l3-relay-webhook", "It could not be told. Nobody answers there.");
    await browser.js(`document.querySelector("l3-relay-webhook:last-child [data-testid=webhook-remove]").focus()`);
    await browser.keys(ENTER);
    await see("dialog", "https://a.example/x");
    await click("[data-testid=confirm]");
    await until(`document.querySelectorAll("l3-relay-webhook").length === 1 && document.activeElement.dataset.testid === "webhook-url"`);
    assert.deepEqual(relay.asked, ["webhook ftp://x false", "webhook https://a.example/x false", "test 2", "test 1", "remove 2"]);
  }));

test("a_change_elsewhere_is_shown_and_a_missing_instance_is_said", { skip }, async () => {
  await on("#relay/7", async ({ relay, server }) => {
    await see("[data-testid=relay-state]", "Waiting for a reply");
    relay.instances.get(7).state = "WAITING_FOR_AGENT";
    server.say({ type: "changed", list: "relay" });
    await see("[data-testid=relay-state]", "Waiting for the agent");
  });
  await on("#relay/99", () => see("[data-testid=relay-detail] .error-state", "Instance 99 could not be opened."));
});

test("the_test_phone_shows_what_came_and_answers_as_the_contact", { skip }, async () => {
  const phone = [{ n: 1, address: "+491701234567", mine: false, text: "Hello, is the flat still free?", at: new Date().toISOString(), id: "a" }];
  const world = fullWorld(Date.now());
  const asked = [];
  world.api["/api/relay/loopback"] = ({ search }) => ({ messages: search.get("address") === "+491701234567" ? phone.filter(({ n }) => n > Number(search.get("after"))) : [] });
  world.api["POST /api/relay/loopback"] = ({ body }) => {
    asked.push(`${body.address} ${body.text} ${body.id.length}`);
    phone.push({ ...phone[0], n: 2, mine: true, text: body.text });
    return { came: "kept", instance: 7 };
  };
  const server = await serveScreens(world);
  try {
    await browser.go("about:blank");
    await browser.go(`${server.address}loopback#${encodeURIComponent("+491701234567")}`);
    await see("#messages li", "Hello, is the flat still free?");
    await browser.js(`document.querySelector("#text").value = "Yes, it is."; document.querySelector("#say").requestSubmit()`);
    await see("#messages li[data-mine=true]", "Yes, it is.");
    await see("#came", "Instance 7 has it.");
    assert.deepEqual(asked, ["+491701234567 Yes, it is. 36"]);
  } finally {
    server.end();
  }
});
