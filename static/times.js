// Times in words. Pure functions; nothing here touches the DOM.

/** An ISO 8601 time as a person reads it, in the local time zone; anything else as it is. */
export function localTime(text) {
  const at = new Date(text);
  return Number.isNaN(at.getTime())
    ? String(text)
    : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** When `dueAt` (ISO 8601) is, seen from `now` (milliseconds): `{ text, overdue }`. */
export function dueIn(dueAt, now) {
  const at = Date.parse(dueAt);
  if (Number.isNaN(at)) return { text: String(dueAt), overdue: false };
  const seconds = Math.round((at - now) / 1000);
  const amount = spanOf(seconds);
  return seconds < 0 ? { text: `due ${amount} ago`, overdue: true } : { text: `due in ${amount}`, overdue: false };
}

function spanOf(seconds) {
  const size = Math.abs(seconds);
  if (size < 60) return `${size} s`;
  if (size < 3600) return `${Math.round(size / 60)} min`;
  return size < 172_800 ? `${Math.round(size / 3600)} h` : `${Math.round(size / 86_400)} days`;
}

/** The line under a waiting approval. `expiresAt` is ISO 8601, `now` in milliseconds. */
export function expiryLine(expiresAt, now) {
  const at = Date.parse(expiresAt);
  if (Number.isNaN(at)) return "";
  // Only the server decides that the time is over; its clock may differ from this one's.
  if (at <= now) return "The time is over; this counts as refused any moment now.";
  return `Without an answer it is refused in ${spanOf(Math.ceil((at - now) / 1000))}, ${localTime(expiresAt)}.`;
}
