// A conversation in which a good deal was done: rows that can be sorted and drawn, a failure that
// was mended, an outcome that nobody knows.

import { callFrames, turnFrames } from "./talk.mjs";

const day = (index) => `2026-01-${String(index + 1).padStart(2, "0")}`;
const ROWS = Array.from({ length: 12 }, (_, index) => ({ day: day(index), sold: (index * 7) % 12, note: index === 3 ? "A long note that does not fit into a cell of the table, and opens in the details." : null }));

/** A statement that gave rows with a date and a number. */
export const rowsCall = (turn, call) =>
  callFrames(turn, call, {
    args: { query: "SELECT day, sold, note FROM sales" },
    result: JSON.stringify(ROWS),
    columns: [{ name: "day", type: "date" }, { name: "sold", type: "int8" }, { name: "note", type: "text" }],
    total: 300,
    said: "It gave 300 rows.",
  });

export const workedFrames = () => [
  ...turnFrames(1, "What was sold?", "Twelve days: **see** the table, and `roman(4)`.\n\n| n | roman |\n|--:|---|\n| 4 | IV |", [
    ...rowsCall(1, 1),
    ...callFrames(1, 2, { result: "Error: column nothing does not exist", said: "The SQL failed: column nothing does not exist.", ok: false }),
    ...callFrames(1, 3, { name: "roman", args: { n: 4, deep: { a: [1, 2] } }, result: '{"roman":"IV","n":4}', said: "roman was called." , logs: ["a line", "another"] }),
  ]),
  ...turnFrames(2, "Send the report.", "It may have been sent.", [
    ...callFrames(2, 4, { name: "send_report", args: { to: "a@example.com" }, result: "Do not repeat this.", said: "It may or may not have happened.", ok: false, uncertain: true }),
    { type: "operation", turn: 2, call: 4, ordinal: 1, power: "http", request: { method: "POST", url: "https://api.example/" }, state: "unknown" },
  ]),
];
