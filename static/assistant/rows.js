// The rows of a conversation with a character: what a person pressed is a line and not a message,
// and only the newest messages are shown. Pure.

import { said } from "./words.js";

/** A chat is its newest messages; the server sends no older ones to the model either. */
export const MOST_MESSAGES = 50;

/** The rows of `turnRows` as this place shows them. `speaker` is the character's name. */
export function chatRows(rows, state, speaker) {
  const orders = ordersOf(state);
  const shown = rows.flatMap((row) => rowsFor(row, orders, state, speaker));
  return newest(outcomesLast(shown), MOST_MESSAGES);
}

/** The outcome of an order stands behind the question about it, which came first. */
function outcomesLast(rows) {
  const all = [...rows];
  for (let index = 1; index < all.length; index += 1)
    if (all[index].kind === "approval" && all[index - 1].kind === "pressed") all.splice(index - 1, 2, all[index], all[index - 1]);
  return all;
}

/** The keys of rows that stand for an order of a person: the words of it, its call, and what the program says of that in the place of a model. */
function ordersOf({ items, turns }) {
  const keys = new Set();
  for (const { key, kind, turn, clientId, streamKey } of items.values()) {
    if (turns.get(turn)?.origin !== "command") continue;
    keys.add(kind === "user" && clientId ? `said:${clientId}` : kind === "assistant" && streamKey ? `text:${streamKey}` : key);
  }
  return keys;
}

function rowsFor(row, orders, state, speaker) {
  switch (row.kind) {
    case "user":
      return orders.has(row.key) ? [] : [{ ...row, editAt: undefined }];
    case "assistant":
      return orders.has(row.key) ? [] : [{ ...row, speaker, note: noteOf(row, state) }];
    case "steps":
      if (orders.has(row.steps[0].key)) return pressedRows(row);
      // The question says what waits for an answer.
      return row.steps.every(({ came }) => came === "waiting") ? [] : [withNotes(row, state)];
    case "foot":
      return state.turns.get(row.turn)?.origin === "command" ? [] : [footRow(row)];
    case "approval":
      return row.shown?.question ? [{ ...row, targets: targetsOf(row.shown.args?.target, state) }] : [row];
    case "end":
      // An order that was refused has said so.
      return orders.has(row.key) && row.state === "completed" ? [] : [row];
    default:
      return [row];
  }
}

/** An answer that was spoken in a call says from which sentence on it was not heard. */
function noteOf({ key }, { unheard }) {
  const from = unheard?.get(key.replace(/^(?:text|assistant):/, ""));
  return from === undefined ? undefined : said.unheard(from);
}

/** Text beside calls is a step, and may have been spoken as well. Without a note the row stays the same object, so that its element rests. */
function withNotes(row, state) {
  const noted = (step) => (step.kind === "assistant" && noteOf(step, state) !== undefined ? { ...step, note: noteOf(step, state) } : step);
  const steps = row.steps.map(noted);
  return steps.some((step, index) => step !== row.steps[index]) ? { ...row, steps } : row;
}

/** The outcome of an order, in a sentence of the server. While it waits for an answer the question is what there is to see. */
function pressedRows({ key, steps }) {
  return steps
    .filter(({ outcome }) => outcome?.said)
    .map(({ key: own, outcome }) => ({ key: `${key}:${own}`, kind: "pressed", content: outcome.said, failed: !outcome.ok }));
}

/** When, and a way to copy; what a turn took is in Activity, and a chat with a character has no branches. */
function footRow({ key, kind, turn, at, answer }) {
  return { key, kind, turn, at, answer };
}

/** The tasks that a yes is about, a line each, if it is about several. */
function targetsOf(target, { tasks }) {
  if (!Array.isArray(target?.tasks)) return undefined;
  const titles = target.tasks.map((id) => tasks.get(id)?.title ?? `#${id}`);
  return titles.length > 0 ? titles.join("\n") : undefined;
}

function newest(rows, most) {
  let count = 0;
  for (let index = rows.length - 1; index >= 0; index -= 1) {
    const { kind } = rows[index];
    if (kind === "user" || kind === "assistant") count += 1;
    if (count > most) return rows.slice(index + 1);
  }
  return rows;
}
