// A sentence of the server for a person. It writes names between backticks; here they are set as
// code.

import { h } from "../core/dom.js";
import { exactNodes } from "./exact.js";

/** The sentence as nodes, with marks for what cannot be seen. */
export function saidNodes(text) {
  const parts = String(text).split("`");
  // A backtick without a second one is a backtick.
  if (parts.length % 2 === 0) return exactNodes(String(text));
  return parts.flatMap((part, index) => (index % 2 === 1 ? h("code", {}, exactNodes(part)) : exactNodes(part)));
}
