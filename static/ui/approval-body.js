// The body of an approval: everything the decision is about, whole. All of it may come from a
// model, so all of it is shown exactly.

import { h } from "../core/dom.js";
import { argumentParts, grantMarks } from "../core/format.js";
import { changesWithin } from "../core/line-diff.js";
import { sizeOf } from "../core/numbers.js";
import { approval as said } from "./approval-words.js";
import { exactBlock, exactDiff, hiddenWarning } from "./exact.js";
import { foldable } from "./fold.js";
import { saidNodes } from "./said.js";

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
      sentences.map((sentence) => h("li", { dir: "auto" }, saidNodes(sentence))),
    ),
    capability ? grantPart(capability, grants, sentences) : undefined,
    why ? h("p", { class: "approval-why", dir: "auto" }, h("strong", {}, said.why), " ", saidNodes(why)) : undefined,
  ].filter(Boolean);
}

/** The exact parts below: what changes, the source, the arguments, each once. */
export function approvalParts({ args, capability }) {
  return [...(capability ? capabilityParts(capability) : []), ...exactArguments(args, capability)];
}

/** All of it, for what has been decided. */
export const approvalBody = (shown) => [...approvalSaid(shown), ...approvalParts(shown)];

function textsOf({ args, what, why, capability }) {
  // The source also stands among the arguments as a rule; it is counted once.
  const others = argumentParts(args).filter((each) => changesOf(each, capability) === undefined);
  const texts = [...what, why, ...others.map(({ text }) => text)];
  return capability ? [...texts, capability.name, capability.source, ...(capability.grants_in_words ?? [])] : texts;
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
  const list = sentences.map((sentence) => h("li", { dir: "auto" }, saidNodes(sentence)));
  return [
    marks.length > 0 ? h("p", { class: "grant-marks" }, marks) : "",
    h("ul", { class: "grant-list", "data-testid": "approval-grants" }, list),
  ];
}

function differenceNode(difference) {
  const text = JSON.stringify(difference, null, 2);
  return foldable(exactBlock(text, "json", said.recordedCall), text);
}

/** The lines in which an argument differs from the source that will run, which level3 makes of it; nothing if it is something else. */
const changesOf = ({ kind, text }, capability) => (capability && !kind ? changesWithin(text, capability.source) : undefined);

/** The exact arguments. A source that was shown letter by letter already is named instead of being shown twice; of one that was mended the mended lines stand. */
function exactArguments(args, capability) {
  const parts = argumentParts(args);
  if (parts.length === 0) return [part(said.arguments, h("p", { class: "none" }, said.noArguments))];
  return parts.map((each) => {
    const { label, kind, text, language } = each;
    const changes = changesOf(each, capability);
    if (changes === "") return h("p", { class: "none", dir: "auto" }, said.sameAsSource(label));
    if (changes !== undefined) return part(said.mendedSource(label), foldable(exactDiff(changes, said.changedLines), changes));
    const title = { all: said.exactArguments, others: said.otherArguments }[kind] ?? said.argument(label);
    return part(title, foldable(exactBlock(text, language, title), text));
  });
}

function part(title, ...nodes) {
  return h("section", { class: "approval-part" }, h("h3", {}, title), nodes.flat());
}
