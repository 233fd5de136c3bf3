// The body of an approval: everything the decision is about, whole. All of it may come from a
// model, so all of it is shown exactly.

import { h } from "../core/dom.js";
import { argumentParts, grantMarks } from "../core/format.js";
import { sizeOf } from "../core/numbers.js";
import { approval as said } from "./approval-words.js";
import { exactBlock, exactDiff, exactNodes, hiddenWarning } from "./exact.js";
import { foldable } from "./fold.js";

/** The part that is read before the buttons: what will happen, what it may do from then on, and why it is asked. `shown` as in `core/state-law.js`. */
export function approvalSaid(shown) {
  const { what, why, capability } = shown;
  const grants = capability?.grants_in_words ?? [];
  // A sentence that stands among the grants, right below, is not said twice.
  const sentences = what.filter((sentence) => !grants.includes(sentence));
  return [
    hiddenWarning(textsOf(shown)),
    h(
      "ul",
      { class: "approval-what", "data-testid": "approval-what" },
      sentences.map((sentence) => h("li", { dir: "auto" }, exactNodes(sentence))),
    ),
    capability ? grantPart(capability, grants, sentences) : undefined,
    why ? h("p", { class: "approval-why", dir: "auto" }, h("strong", {}, said.why), " ", exactNodes(why)) : undefined,
  ].filter(Boolean);
}

/** The exact parts below: what changes, the source, the arguments, each once. */
export function approvalParts({ args, capability }) {
  return [...(capability ? capabilityParts(capability) : []), ...exactArguments(args, capability)];
}

/** All of it, for what has been decided. */
export const approvalBody = (shown) => [...approvalSaid(shown), ...approvalParts(shown)];

function textsOf({ args, what, why, capability }) {
  const texts = [...what, why, ...argumentParts(args).map((each) => each.text)];
  if (!capability) return texts;
  // The source also stands among the arguments as a rule; it is counted once.
  const repeated = texts.includes(capability.source);
  return [...texts, capability.name, ...(repeated ? [] : [capability.source]), ...(capability.grants_in_words ?? [])];
}

function capabilityParts({ source, language, replaces, diff, differences = [] }) {
  const parts = [];
  if (differences.length > 0) parts.push(part(said.differences, differences.map(differenceNode)));
  if (replaces !== null && replaces !== undefined) {
    const changed = diff ? foldable(exactDiff(diff, said.changedLines), diff) : h("p", { class: "none" }, said.sourceStays);
    parts.push(part(said.changes(replaces), changed));
  }
  const code = language === "wat" || language === "wasm" ? "" : language;
  const title = said.source(source.split("\n").length, sizeOf(source.length));
  parts.push(part(title, foldable(exactBlock(source, code, said.theSource, true), source)));
  return parts;
}

/** The powers, with a heading unless the sentence before says already what they are. */
function grantPart({ grants }, inWords, sentences) {
  const nodes = grantNodes(grants, inWords);
  const isSaid = inWords.length > 0 && sentences.at(-1)?.trimEnd().endsWith(":");
  return isSaid ? h("section", { class: "approval-part", role: "group", "aria-label": said.grants }, nodes) : part(said.grants, nodes);
}

function grantNodes(grants, sentences) {
  if (sentences.length === 0) return h("p", { class: "none" }, said.noGrants);
  const marks = grantMarks(grants).map((mark) => h("span", { class: "grant-mark" }, mark));
  const list = sentences.map((sentence) => h("li", { dir: "auto" }, exactNodes(sentence)));
  return [
    marks.length > 0 ? h("p", { class: "grant-marks" }, marks) : "",
    h("ul", { class: "grant-list", "data-testid": "approval-grants" }, list),
  ];
}

function differenceNode(difference) {
  const text = JSON.stringify(difference, null, 2);
  return foldable(exactBlock(text, "json", said.recordedCall), text);
}

/** The exact arguments. A source that was shown letter by letter already is named instead of being shown twice. */
function exactArguments(args, capability) {
  const parts = argumentParts(args);
  if (parts.length === 0) return [part(said.arguments, h("p", { class: "none" }, said.noArguments))];
  return parts.map(({ label, kind, text, language }) => {
    const title = { all: said.exactArguments, others: said.otherArguments }[kind] ?? said.argument(label);
    if (capability && text === capability.source) return h("p", { class: "none", dir: "auto" }, said.sameAsSource(label));
    return part(title, foldable(exactBlock(text, language, title), text));
  });
}

function part(title, ...nodes) {
  return h("section", { class: "approval-part" }, h("h3", {}, title), nodes.flat());
}
