// A turn once more: branch and retry make a conversation that goes on from a place of this one, and
// leave this one as it is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { createAgain } = await load("chat/again.js");
const { default: en } = await load("words/en.js");

/** A page that writes down what it was asked, in order; `refuse` is what the server says instead. */
function page({ refuse, status = 200, broken } = {}) {
  const told = [];
  const api = {
    async newConversation(from) {
      if (refuse) throw new Error(refuse);
      told.push(["made", from]);
      return { conversation: 9 };
    },
  };
  const session = {
    api,
    lists: { load: (kind) => told.push(["list", kind]) },
    open: async (conversation) => told.push(["open", conversation]),
    send: (message) => told.push(["send", message]),
    store: { getState: () => ({ shown: 4 }) },
  };
  const fetch = async () => {
    if (broken === "line") throw new TypeError("Failed to fetch");
    const arrayBuffer = broken ? () => Promise.reject(broken) : async () => new Uint8Array([104, 105]).buffer;
    return { ok: status === 200, arrayBuffer };
  };
  const again = createAgain({ session, go: (conversation) => told.push(["go", conversation]), said: (text) => told.push(["said", text]), write: () => told.push(["write"]), fetch });
  return { told, again };
}

test("a_branch_goes_on_behind_its_turn_and_says_nothing_by_itself", async () => {
  const { told, again } = page();
  await again.branch({ branchAt: 31 });
  assert.deepEqual(told, [["made", { conversation: 4, seq: 31 }], ["list", "conversations"], ["go", 9], ["write"]]);
});

test("a_retry_says_the_same_with_its_images_from_before_the_turn", async () => {
  const { told, again } = page();
  const image = { media_type: "image/png", size: 2, sha256: "ab" };
  await again.retry({ retryAt: 12, said: "What is this?", images: [image] });
  const whole = { media_type: "image/png", size: 2, data: btoa("hi") };
  assert.deepEqual(told, [
    ["made", { conversation: 4, seq: 12 }],
    ["list", "conversations"],
    ["open", 9],
    ["send", { content: "What is this?", steer: false, images: [whole] }],
    ["go", 9],
    ["write"],
  ]);
});

test("what_cannot_be_done_again_is_said_and_leaves_nothing_half_made", async () => {
  const refused = page({ refuse: "The database does not answer." });
  await refused.again.branch({ branchAt: 31 });
  assert.deepEqual(refused.told, [["said", "The database does not answer."]]);
  const gone = page({ status: 404 });
  await gone.again.retry({ retryAt: 12, said: "What is this?", images: [{ media_type: "image/png", size: 2, sha256: "ab" }] });
  assert.deepEqual(gone.told, [["said", en.chat.imageGone]]);
  // A person is not told in the words of a browser.
  for (const [broken, words] of [["line", en.failed.unreachable], [new DOMException("The operation failed", "NotReadableError"), en.failed.here]]) {
    const cut = page({ broken });
    await cut.again.retry({ retryAt: 12, said: "What is this?", images: [{ media_type: "image/png", size: 2, sha256: "ab" }] });
    assert.deepEqual(cut.told, [["said", words]]);
  }
});
