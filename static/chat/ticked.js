// Sentences of the server name things between backticks; on the page these are set as code.

import { h } from "../core/dom.js";

/** `text` as nodes. */
export function ticked(text) {
  return text.split(/\x60([^\x60\n]+)\x60/).map((piece, index) => (index % 2 === 1 ? h("code", { dir: "auto" }, piece) : piece)).filter((piece) => piece !== "");
}
