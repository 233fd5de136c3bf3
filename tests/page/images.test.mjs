// Images on their way into a message, and what becomes of them in the outbox.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { addressOf, blindness, isImage } = await load("core/images.js");
const { base64, MAX_IMAGE_BYTES, readImages } = await load("core/image-files.js");
const { loadOutbox, refusal, saveOutbox } = await load("core/outbox.js");
const { createDrafts } = await load("chat/draft.js");

const file = (bytes, type, name) => new File([new Uint8Array(bytes)], name, { type });
const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const IMAGE = { media_type: "image/png", data: "AAEC", size: 3, name: "a.png" };

function storage(most = Infinity) {
  const kept = new Map();
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem(key, value) {
      if (value.length > most) throw new Error("quota");
      kept.set(key, value);
    },
    removeItem: (key) => kept.delete(key),
  };
}

test("files_of_the_right_kind_are_read_and_the_others_are_told", async () => {
  const files = [file(PNG, "image/png", "a.png"), file([1], "image/svg+xml", "b.svg"), file([1], "", "c")];
  const { images, problems } = await readImages(files);
  assert.deepEqual(images, [{ media_type: "image/png", data: btoa(String.fromCharCode(...PNG)), size: 8, name: "a.png" }]);
  assert.equal(problems.length, 2);
  assert.match(problems[0], /b\.svg .*WebP/);
});

test("the_bytes_say_which_image_a_file_is_and_not_its_name", async () => {
  const files = [file(PNG, "image/jpeg", "a.jpg"), file(Buffer.from("notpng"), "image/png", "fake.png"), file(Buffer.from("RIFF\n\0\r\0WEBPVP8 "), "", "c"), file(Buffer.from("GIF89a"), "image/gif", "d")];
  const { images, problems } = await readImages(files);
  assert.deepEqual(images.map(({ media_type: type }) => type), ["image/png", "image/webp", "image/gif"]);
  assert.deepEqual(problems, ["fake.png is called an image and is none."]);
});

test("an_image_that_is_too_large_or_one_too_many_is_told_and_not_sent", async () => {
  const large = { name: "l.png", type: "image/png", size: MAX_IMAGE_BYTES + 1 };
  assert.match((await readImages([large])).problems[0], /5 MB/);
  const small = () => file(PNG, "image/gif", "s.gif");
  const { images, problems } = await readImages([small(), small(), small()], 2);
  assert.equal(images.length, 2);
  assert.match(problems[0], /4 images/);
});

test("long_images_are_carried_whole", () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251);
  assert.equal(base64(bytes), Buffer.from(bytes).toString("base64"));
});

test("an_address_is_the_servers_or_the_images_own_and_nothing_else", () => {
  assert.equal(addressOf({ sha256: "a/../b" }), "/api/attachments/a%2F..%2Fb");
  assert.equal(addressOf(IMAGE), "data:image/png;base64,AAEC");
  assert.equal(isImage(IMAGE), true);
  assert.equal(isImage({ media_type: "text/html", data: "AAEC" }), false);
  assert.equal(isImage({ media_type: "image/png", data: "AA,<script>" }), false);
});

test("what_a_model_cannot_see_is_said_beforehand_and_only_where_it_is_known", () => {
  const hello = (images, model = { kind: "configured", provider: "groq", name: "llama" }) => ({ model, images });
  assert.match(blindness(hello(false)), /^llama cannot see images/);
  assert.match(blindness(hello(false, { kind: "tour", provider: "", name: "tour" })), /^The built-in tour cannot/);
  assert.match(blindness(hello(false, { kind: "local", provider: "ollama", name: "" })), /^The model in use cannot/);
  assert.equal(blindness(hello(true)), undefined);
  assert.equal(blindness(hello(undefined)), undefined, "an older server does not say");
  assert.equal(blindness(null), undefined, "not connected yet");
});

test("a_message_may_be_images_alone", () => {
  assert.equal(refusal(" ", 1), undefined);
  assert.match(refusal(" ", 0), /nothing/);
});

test("a_message_whose_images_do_not_fit_is_kept_in_words_and_not_sent_without_them", () => {
  const entry = { id: "a", content: "look", images: [IMAGE], status: "sending" };
  const roomy = storage();
  saveOutbox(roomy, [entry]);
  assert.deepEqual(loadOutbox(roomy), [entry]);
  const tight = storage(230);
  saveOutbox(tight, [{ ...entry, images: [{ ...IMAGE, data: "A".repeat(400) }] }]);
  const [kept] = loadOutbox(tight);
  assert.deepEqual([kept.content, kept.status, kept.images], ["look", "refused", undefined]);
  assert.match(kept.error, /add them again/);
});

test("the_images_of_a_draft_survive_a_reload_as_far_as_there_is_room", () => {
  const tab = storage(200);
  createDrafts(tab).keepImages([IMAGE]);
  assert.deepEqual(createDrafts(tab).images(), [IMAGE]);
  createDrafts(tab).keepImages([IMAGE, { ...IMAGE, data: "A".repeat(400) }]);
  assert.deepEqual(createDrafts(tab).images(), [], "not the older ones in their place");
});
