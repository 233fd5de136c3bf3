// News above everything: whole at first, one line from the next load on, and whole again when a
// trouble that was over comes back.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

let browser;
let server;
before(async () => {
  if (!skip) browser = await startBrowser();
});
after(() => browser?.end());
afterEach(() => server?.end());

const fails = (turn) => [{ type: "turn", turn, state: "queued", origin: "message", content: "Hello?" }, { type: "error", turn, content: "No model answers.", failure: "model" }];
/** Loads the page, and says for each banner if it is folded. */
async function load() {
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  await browser.waitFor(`return document.querySelector("[data-testid=connection]")?.dataset.state === "connected" && document.querySelector("l3-messages:not([hidden]) .rows > *") !== null`);
  return browser.js(`return Object.fromEntries([...document.querySelectorAll("[data-testid=banner]")].map(({ dataset: { banner, folded } }) => [banner, folded]))`);
}

test("a_trouble_that_lasts_is_one_line_after_the_first_reading_and_news_when_it_comes_again", { skip, timeout: 120_000 }, async () => {
  server = await serveTalk(fails(1), { hello: { safe_mode: true } });
  assert.deepEqual(await load(), { safe: "false", model: "false" });
  assert.deepEqual(await load(), { safe: "true", model: "true" });
  await browser.js(`document.querySelector("[data-banner=model] button").click()`);
  assert.equal(await browser.js(`return document.querySelector("[data-banner=model]").dataset.folded`), "false", "it can be read once more");
  server.world.hello = {};
  for (const frame of turnFrames(2, "And now?", "Here I am.")) server.record(frame);
  await browser.waitFor(`return document.querySelector("[data-banner=model]") === null`);
  assert.deepEqual(await load(), {});
  // A page that is open would hear of the trouble, and count as its first reading.
  await browser.go("about:blank");
  server.world.hello = { safe_mode: true };
  for (const frame of fails(3)) server.record(frame);
  assert.deepEqual(await load(), { safe: "false", model: "false" });
});

test("a_server_that_is_gone_is_one_line_after_the_first_reading_as_the_others_are", { skip, timeout: 120_000 }, async () => {
  const state = (name) => browser.waitFor(`return document.querySelector("[data-testid=connection]")?.dataset.state === "${name}"`);
  const folded = () => browser.js(`return document.querySelector("[data-banner=offline]")?.dataset.folded ?? null`);
  server = await serveTalk([{ type: "turn", turn: 1, state: "queued", origin: "message", content: "Hello?" }]);
  await load();
  const goes = async () => {
    server.world.down = true;
    server.drop();
    await state("offline");
  };
  await goes();
  assert.equal(await folded(), "false", "whole at first");
  await browser.js(`document.querySelector("[data-banner=offline] button").click()`);
  assert.equal(await folded(), "true", "it can be folded");
  // The files still come, and no line: so it is behind a proxy.
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  await state("offline");
  assert.equal(await folded(), "true", "one line from the next load on");
  server.world.down = false;
  await state("connected");
  assert.equal(await folded(), null);
  await goes();
  assert.equal(await folded(), "false", "news when it comes again");
});

test("the_banners_of_the_model_lead_to_its_settings", { skip, timeout: 120_000 }, async () => {
  const way = (kind) => browser.js(`const link = document.querySelector("[data-banner=${kind}] a"); return link && [link.textContent, link.getAttribute("href")]`);
  server = await serveTalk(fails(1));
  await load();
  assert.deepEqual(await way("model"), ["Settings › Model", "#settings/model"]);
  await server.end();
  server = await serveTalk(turnFrames(1, "Hello?", "Hello."), { model: { kind: "tour", provider: null, name: null } });
  await load();
  assert.deepEqual(await way("tour"), ["Settings › Model", "#settings/model"]);
});
