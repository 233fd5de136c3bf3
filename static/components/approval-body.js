// What an approval shows: everything the decision is about, whole. All of it may come from a model, so all of it is shown exactly.

import { h } from "../dom.js";
import { exactBlock, exactDiff, exactNodes, hiddenWarning } from "../exact.js";
import { argumentParts, grantMarks, sizeOf } from "../format.js";

/** The sections of what is `shown` (see `state-law.js`), in the order they should be read. */
export function approvalBody(shown) {
  const { args, what, why, capability } = shown;
  const words = capability?.grants_in_words ?? [];
  // A sentence that stands among the grants, right below, is not said twice.
  const sentences = what.filter((sentence) => !words.includes(sentence));
  return [
    hiddenWarning(textsOf(shown)),
    h(
      "ul",
      { class: "approval-what", "data-testid": "approval-what" },
      sentences.map((sentence) => h("li", { dir: "auto" }, exactNodes(sentence))),
    ),
    capability ? part("What it may do", grantNodes(capability.grants, words)) : undefined,
    why
      ? h("p", { class: "approval-why", dir: "auto" }, h("strong", {}, "Why you are asked: "), exactNodes(why))
      : undefined,
    ...(capability ? capabilityParts(capability) : []),
    ...exactArguments(args, capability),
  ].filter(Boolean);
}

function textsOf({ args, what, why, capability }) {
  const texts = [...what, why, ...argumentParts(args).map((each) => each.text)];
  if (!capability) return texts;
  // The source also stands among the arguments as a rule; it is counted once.
  const repeated = texts.includes(capability.source);
  return [...texts, capability.name, ...(repeated ? [] : [capability.source]), ...(capability.grants_in_words ?? [])];
}

function capabilityParts(capability) {
  const { source, language, replaces, diff, differences = [] } = capability;
  const parts = [];
  if (differences.length > 0)
    parts.push(part("Recorded calls it would answer otherwise", differences.map(differenceNode)));
  if (replaces !== null && replaces !== undefined)
    parts.push(
      part(
        `What changes from version ${replaces}`,
        diff ? exactDiff(diff, "Changed lines") : h("p", { class: "none" }, "The source stays as it is."),
      ),
    );
  const lines = source.split("\n").length;
  parts.push(
    part(
      `The source, whole: ${lines} ${lines === 1 ? "line" : "lines"}, ${sizeOf(source.length)}`,
      exactBlock(source, language === "wat" || language === "wasm" ? "" : language, "The source", true),
    ),
  );
  return parts;
}

function grantNodes(grants, words) {
  if (words.length === 0) return h("p", { class: "none" }, "Nothing outside its sandbox.");
  const marks = grantMarks(grants);
  return [
    marks.length > 0
      ? h(
          "p",
          { class: "grant-marks" },
          marks.map((mark) => h("span", { class: "grant-mark" }, mark)),
        )
      : "",
    h(
      "ul",
      { class: "grant-list", "data-testid": "approval-grants" },
      words.map((sentence) => h("li", { dir: "auto" }, exactNodes(sentence))),
    ),
  ];
}

function differenceNode(difference) {
  return exactBlock(JSON.stringify(difference, null, 2), "json", "A recorded call");
}

/** The exact arguments. A source that was shown letter by letter already is named instead of being shown twice. */
function exactArguments(args, capability) {
  const parts = argumentParts(args);
  if (parts.length === 0) return [part("The arguments", h("p", { class: "none" }, "None."))];
  return parts.map(({ label, text, language }) => {
    const title =
      label === "arguments"
        ? "The arguments, exactly"
        : label === "other arguments"
          ? "The other arguments, exactly"
          : `The argument ${label}, exactly`;
    if (capability && text === capability.source)
      return part(title, h("p", { class: "none" }, "The source above, letter by letter."));
    return part(title, exactBlock(text, language, title));
  });
}

function part(title, ...nodes) {
  return h("section", { class: "approval-part" }, h("h4", {}, title), nodes.flat());
}
