// The page can be installed: the manifest names icons that are there, in the sizes that it says.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const file = (name) => readFileSync(new URL(`../../static/${name}`, import.meta.url));

test("the_manifest_names_icons_that_are_there", () => {
  const { icons, start_url: start, display } = JSON.parse(file("manifest.webmanifest"));
  assert.deepEqual([start, display], ["/", "standalone"]);
  const pixels = icons.filter(({ type }) => type === "image/png").map(({ src, sizes, purpose }) => {
    const data = file(src);
    // The header of a PNG: its name, then width and height.
    assert.equal(data.toString("latin1", 1, 4), "PNG", src);
    assert.equal(`${data.readUInt32BE(16)}x${data.readUInt32BE(20)}`, sizes, src);
    return `${purpose} ${sizes}`;
  });
  assert.deepEqual(pixels, ["any 192x192", "any 512x512", "maskable 512x512"]);
  // Without the credentials the server asks for its token.
  assert.match(file("index.html").toString(), /rel="manifest"[^>]* crossorigin="use-credentials"/);
});
