// Messages the server has not acknowledged yet. They live in the tab's storage, so a reload sends them again under the same
// id, and the server answers with the same turn.

const STORAGE_KEY = "level3.outbox";

/** The most one message may hold, in bytes of UTF-8; the server refuses more. */
export const MAX_MESSAGE_BYTES = 256 * 1024;

/** Why `content` cannot be sent, in words, or `undefined` when it can. */
export function refusal(content) {
  if (content.trim() === "") return "There is nothing to send yet.";
  const bytes = new TextEncoder().encode(content).length;
  if (bytes <= MAX_MESSAGE_BYTES) return undefined;
  return `This message has ${Math.ceil(bytes / 1024)} KiB; one message may have ${MAX_MESSAGE_BYTES / 1024}. Send it in parts.`;
}

/** A fresh id for a message. `randomUUID` exists only in secure contexts, so there is a second way to the same thing. */
export function newId(source = globalThis.crypto) {
  if (typeof source.randomUUID === "function") return source.randomUUID();
  const bytes = source.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The messages kept in `storage` (like `sessionStorage`); an empty list when there are none or they cannot be read. */
export function loadOutbox(storage) {
  try {
    const entries = JSON.parse(storage.getItem(STORAGE_KEY) ?? "[]");
    return entries.filter((entry) => typeof entry?.id === "string" && typeof entry?.content === "string");
  } catch {
    return [];
  }
}

/** Keeps `entries` in `storage`. A full or forbidden storage costs only the safety of a reload, so it is not an error. */
export function saveOutbox(storage, entries) {
  try {
    if (entries.length === 0) storage.removeItem(STORAGE_KEY);
    else storage.setItem(STORAGE_KEY, JSON.stringify(entries));
  } catch {
    // see above
  }
}
