// Presses in a conversation that lead somewhere: links that say where, pictures that open large,
// and a message that is edited and sent again.

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const options = { skip, timeout: 120_000 };
const [ENTER, ESCAPE] = ["\uE007", "\uE00C"];
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const IMAGE = { media_type: "image/png", size: 70, sha256: "ab".repeat(32) };
const ANSWER = "It is at [www.example.com](https://example.org/there), or [Open example.com](https://example.org/words), or [this way](https://example.net/plain).";

let browser;
let server;
let made;
before(async () => {
  if (skip) return;
  browser = await startBrowser();
  await browser.size(1280, 900);
  await browser.media({ "prefers-reduced-motion": "reduce" });
});
after(() => browser?.end());
beforeEach(async () => {
  if (skip) return;
  made = [];
  const [said, ...rest] = turnFrames(1, "Where is it?", ANSWER);
  const api = {
    [`/api/attachments/${IMAGE.sha256}`]: { png: PNG },
    "POST /api/conversations": ({ body }) => (made.push(body), { conversation: 7 }),
    "/api/conversations/7/frames": { frames: [], before: null },
  };
  server = await serveTalk([{ ...said, images: [IMAGE] }, ...rest], { api });
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  await browser.waitFor(`return document.querySelector("l3-assistant a") !== null && document.querySelector("l3-user .thumbnails img") !== null && document.querySelector("l3-foot") !== null`);
});
afterEach(() => server?.end());

/** Presses a link as a browser tells of it, and says whether the page took the press; the browser itself follows nothing. */
const PRESS = `
  const [css, type, button] = arguments;
  let taken;
  document.addEventListener(type, (event) => ((taken = event.defaultPrevented), event.preventDefault()), { once: true });
  document.querySelector(css).dispatchEvent(new MouseEvent(type, { button, bubbles: true, cancelable: true }));
  return taken;`;
const ELSEWHERE = "l3-assistant a[href='https://example.org/there']";
const WORDS = "l3-assistant a[href='https://example.org/words']";
const PLAIN = "l3-assistant a[href='https://example.net/plain']";
const asked = () => browser.waitFor(`return document.querySelector("dialog:modal")?.innerText`);
const close = async () => {
  await browser.keys(ESCAPE);
  await browser.waitFor(`return document.querySelector("dialog") === null`);
};

test("a_link_whose_words_name_another_host_asks_first_whichever_button_presses_it", options, async () => {
  for (const [type, button] of [["click", 0], ["auxclick", 1]]) {
    assert.equal(await browser.js(PRESS, ELSEWHERE, type, button), true, type);
    assert.match(await asked(), /www\.example\.com.*leads to example\.org/s);
    await close();
  }
  assert.equal(await browser.js(PRESS, WORDS, "click", 0), true, "a name among other words");
  assert.match(await asked(), /Open example\.com.*leads to example\.org/s);
  await close();
  assert.equal(await browser.js(PRESS, ELSEWHERE, "auxclick", 2), false, "the menu of the browser");
  assert.equal(await browser.js(`return document.querySelector("dialog")`), null);
});

test("another_link_opens_at_once_and_tells_nobody_from_where", options, async () => {
  assert.equal(await browser.js(PRESS, PLAIN, "click", 0), false);
  assert.deepEqual(await browser.js("const { rel, target } = document.querySelector(arguments[0]); return { rel, target }", PLAIN), { rel: "noopener noreferrer", target: "_blank" });
  assert.equal(await browser.js(`return document.querySelector("dialog")`), null);
});

test("an_image_opens_large_and_escape_goes_back_to_it", options, async () => {
  await browser.js(`document.querySelector("l3-user .thumbnails a").focus()`);
  await browser.keys(ENTER);
  await browser.waitFor(`return document.querySelector(".details .large-image")?.src.endsWith(arguments[0])`, IMAGE.sha256);
  await browser.keys(ESCAPE);
  await browser.waitFor(`return document.querySelector(".details") === null && document.activeElement.matches(".thumbnails a")`);
});

test("a_message_is_edited_and_sent_in_a_branch_which_says_that_what_was_done_stays_done", options, async () => {
  await browser.js(`document.querySelector("[data-testid=message-edit]").focus()`);
  await browser.keys(ENTER);
  await browser.waitFor(`return document.activeElement?.dataset.testid === "edit-text"`);
  assert.match(await asked(), /What was done stays done\./);
  await browser.js(`document.activeElement.value = "Where is it now?"; document.querySelector("[data-testid=confirm]").click()`);
  await browser.waitFor(`return location.hash === "#chat/7"`);
  assert.deepEqual(made, [{ from: { conversation: 1, seq: 0 } }], "from before the message");
  for (let tries = 0; tries < 400 && server.messages().length === 0; tries += 1) await browser.js("return 0");
  const [{ conversation, content, images }] = server.messages();
  assert.deepEqual([conversation, content, images?.length], [7, "Where is it now?", 1]);
});
