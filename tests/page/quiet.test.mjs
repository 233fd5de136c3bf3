// While an answer is written, a piece of it changes its own row and nothing else of the page; and
// the mark at its end breathes only in a pause.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serveTalk, turnFrames } from "./support/talk.mjs";
import { skip, startBrowser } from "./support/webdriver.mjs";

const options = { skip, timeout: 120_000 };

let browser;
let server;
before(async () => {
  if (skip) return;
  server = await serveTalk(turnFrames(1, "Before.", "An answer from before."));
  browser = await startBrowser();
  await browser.size(1280, 900);
  await browser.media({ "prefers-reduced-motion": "no-preference" });
});
after(async () => {
  await browser?.end();
  server?.end();
});

const written = (text) => browser.waitFor(`return document.querySelector("[data-streaming=true]")?.textContent.includes(arguments[0])`, text);

/** Notes what is changed outside the rows. An attribute that is written once more as it was is no change. */
const WATCH = `
  window.changed = [];
  const note = ({ type, target, attributeName: name, oldValue }) => {
    const node = target.nodeType === Node.TEXT_NODE ? target.parentElement : target;
    if (node?.closest(".rows") || (type === "attributes" && target.getAttribute(name) === oldValue)) return;
    changed.push(type + " " + (name ?? "") + " " + (node?.outerHTML.slice(0, 100) ?? ""));
  };
  new MutationObserver((all) => all.forEach(note)).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true });`;

test("a_piece_of_text_changes_nothing_but_its_row_and_its_end_breathes_in_a_pause", options, async () => {
  await browser.go("about:blank");
  await browser.go(`${server.address}#chat`);
  await browser.waitFor(`return document.querySelector("[data-testid=connection]")?.dataset.state === "connected" && document.querySelector("l3-foot") !== null`);
  server.record({ type: "turn", turn: 2, state: "queued", origin: "message", content: "Tell me." });
  server.record({ type: "turn", turn: 2, state: "running" });
  server.delta(2, "One ");
  await written("One");
  // What came with the turn itself has come: the list of conversations, too.
  await browser.waitFor(`return document.querySelector("[data-streaming=true]").dataset.rests === "true"`);
  const breath = () => browser.js(`return getComputedStyle(document.querySelector("[data-streaming=true] .block:last-child > :last-child"), "::after").animationName`);
  assert.equal(await breath(), "breathe");
  await browser.js(WATCH);
  await browser.js(`
    window.rested = [];
    new MutationObserver(() => rested.push(document.querySelector("[data-streaming=true]")?.dataset.rests)).observe(document.querySelector("[data-streaming=true]"), { childList: true, subtree: true });`);
  for (const piece of ["two ", "three ", "four "]) {
    server.delta(2, piece);
    await written(piece.trim());
  }
  const { changed, rested } = await browser.js(`return { changed, rested }`);
  assert.deepEqual(changed, []);
  assert.ok(rested.length > 0 && rested.every((state) => state === "false"), `${rested.join()}: it does not breathe while text comes`);
});
