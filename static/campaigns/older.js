// How far back a person looks in the logs of a campaign: further with each press.

import { button } from "../ui/button.js";
import { campaigns as said } from "./words.js";

/** The lines of each log at the first depth. */
const LINES = 200;
/** At this depth the server gives as many lines as it gives at all. */
export const DEEPEST = 50;

/** The depth after this one. */
export const deeper = (depth) => Math.min(depth * 5, DEEPEST);

/** So many lines of a log are asked for at a depth. */
export const linesAt = (depth) => LINES * depth;

/** Both logs, the oldest line first, and how far they reach: `{ events, audit, back: { depth, isCut } }`. */
export async function lookBack(api, id, depth) {
  const lines = linesAt(depth);
  const [events, audit] = await Promise.all(["events", "audit"].map((log) => api.campaignLog(id, log, "", lines)));
  return { events, audit, back: { depth, isCut: [events, audit].some(({ length }) => length >= lines) } };
}

/** The button below a list that is not whole. */
export function olderButton(older, title, name) {
  const node = button(said.older, older, { kind: "quiet", "aria-label": said.olderOf(title), "data-testid": `campaigns-older-${name}` });
  node.hidden = true;
  return node;
}
