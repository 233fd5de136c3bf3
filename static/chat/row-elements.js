// The elements of rows: what an empty conversation has not comes when it is there, and rows that
// are not made are a gap. Lines stand for rows that are on their way.

import { later } from "../core/later.js";
import { skeleton, waitingFor } from "../ui/states.js";

const answer = () => import("./answer.js");
/** Code that comes when that of answers is there: what is read comes first, and no foot stands without its answer. */
const afterAnswers = (load) => () => answer().catch(() => undefined).then(load);

const LATER = {
  user: () => import("./message.js"),
  note: () => import("./note.js"),
  assistant: answer,
  steps: afterAnswers(() => import("./steps.js")),
  tool: afterAnswers(() => import("./tool-card.js")),
  foot: afterAnswers(() => import("./turn-foot.js")),
  approval: () => import("./question.js"),
  question: () => import("../ui/question.js"),
};

/** The element for a row of the list. */
export function elementOf({ kind, shown }) {
  if (kind === "gap") return new Gap();
  // A character asks in words of its own.
  const name = shown?.question ? "question" : Object.hasOwn(LATER, kind) ? kind : "note";
  return later(`l3-${name}`, LATER[name]);
}

/** Rows that are not there, as a space of about their height. */
class Gap extends HTMLElement {
  set data({ height }) {
    this.style.height = `${height}px`;
  }
}

customElements.define("l3-gap", Gap);

/** Nothing if each row of the list is what it is; else what ends when the code of the first that is not has come: how tall it is, nobody knows yet. */
export function codeOnItsWay(list) {
  const row = list.querySelector(":scope > :empty:not(:defined)");
  return row ? customElements.whenDefined(row.localName) : undefined;
}

/** Shows lines in `host` while rows may be on their way, and none without `again()`, which asks for these once more. */
export function expectRows(host, again) {
  const ask = () => (host.replaceChildren(waitingFor(ask)), again());
  if (!again) host.replaceChildren();
  else if (!host.firstChild) host.append(waitingFor(ask));
}

/** Asks for the rows above `button`. Lines stand there until these have come, or a person waits no longer. */
export async function askEarlier(button) {
  if (button.nextSibling.localName === "l3-waiting") return;
  const end = () => (lines.contains(document.activeElement) && button.focus(), lines.remove());
  const lines = skeleton(2, end, true);
  button.after(lines);
  await new Promise((done) => button.dispatchEvent(new CustomEvent("load-earlier", { bubbles: true, detail: done })));
  end();
}

/** The row in the middle of what is in sight; rows stand in order, so it is found by halving. */
export function rowInSight({ children: rows }, scroller) {
  const box = scroller.getBoundingClientRect();
  const centre = (box.top + box.bottom) / 2;
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].getBoundingClientRect().bottom > centre) high = middle;
    else low = middle + 1;
  }
  // A gap is no place, and neither is a row beside it that nobody sees.
  if (rows[low]?.dataset.kind !== "gap") return rows[low];
  const isSeen = (row) => row && row.getBoundingClientRect().bottom > box.top && row.getBoundingClientRect().top < box.bottom;
  return [rows[low].nextElementSibling, rows[low].previousElementSibling].find(isSeen);
}

/** True if nothing of the last row is in sight. */
export const endsBelow = ({ lastChild: last }, scroller) => last?.localName === "l3-gap" || last?.getBoundingClientRect().top > scroller.getBoundingClientRect().bottom;

/** The code of rows, and deeper parts of it: found one after the other, by who imports whom, they would take several times as long. */
const WANTED = [answer, () => import("./markdown.js"), () => import("./blocks.js"), () => import("../ui/code.js"), LATER.user, LATER.foot, LATER.steps];

/** Fetches what a conversation with messages needs, while these are on their way. */
export function prepare() {
  // Code that cannot be had now is asked for again by the row that needs it.
  for (const load of WANTED) load().catch(() => undefined);
}
