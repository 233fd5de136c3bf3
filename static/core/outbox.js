// Messages the server has not acknowledged yet. They live in the tab's storage, so a reload sends
// them again under the same id, and the server answers with the same turn.

import { isImage } from "./images.js";
import { words } from "./words.js";

const STORAGE_KEY = "level3.outbox";

/** The most one message may hold, in bytes of UTF-8; the server refuses more. */
export const MAX_MESSAGE_BYTES = (1024 + 64) * 1024;

/** Why `content` cannot be sent, beside so many `images`, in words, or `undefined` when it can. */
export function refusal(content, images = 0) {
  if (content.trim() === "" && images === 0) return words.sending.empty;
  const bytes = new TextEncoder().encode(content).length;
  if (bytes <= MAX_MESSAGE_BYTES) return undefined;
  return words.sending.long(Math.ceil(bytes / 1024), MAX_MESSAGE_BYTES / 1024);
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
    const known = entries.filter((entry) => typeof entry?.id === "string" && typeof entry?.content === "string");
    return known.map((entry) => (entry.images ? { ...entry, images: entry.images.filter(isImage) } : entry));
  } catch {
    return [];
  }
}

/**
 * Keeps `entries` in `storage`. A full or forbidden storage costs only the safety of a reload, so it is not an error. If images are too
 * large for it, the words are kept, and after a reload the message says that they are missing: it is never sent without them.
 */
export function saveOutbox(storage, entries) {
  if (entries.length === 0) return attempt(() => storage.removeItem(STORAGE_KEY));
  const kept = attempt(() => storage.setItem(STORAGE_KEY, JSON.stringify(entries)));
  return kept || attempt(() => storage.setItem(STORAGE_KEY, JSON.stringify(entries.map(withoutImages))));
}

function attempt(write) {
  try {
    write();
    return true;
  } catch {
    return false;
  }
}

function withoutImages({ images, ...entry }) {
  if (!images?.length) return entry;
  return { ...entry, status: "refused", error: words.sending.imagesLost };
}
