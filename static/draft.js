// What a person has begun to write and not sent. It lives in the tab's storage, one for each conversation, so that neither a reload nor a
// restart of the server loses it. No DOM here.

import { isImage } from "./images.js";

const STORAGE_KEY = "level3.draft";
const IMAGES_KEY = "level3.draft-images";
const CONVERSATION_KEY = "level3.conversation";

const keyOf = (conversation) => `${STORAGE_KEY}.${conversation}`;

/** The drafts kept in `storage` (like `sessionStorage`). Until `opened` says which conversation is shown, the one shown last is meant. */
export function createDrafts(storage) {
  let conversation = read(CONVERSATION_KEY);

  function read(key) {
    try {
      return storage.getItem(key) ?? "";
    } catch {
      return "";
    }
  }

  function write(key, text) {
    try {
      if (text === "") storage.removeItem(key);
      else storage.setItem(key, text);
    } catch {
      // A draft that cannot be kept is lost on reload, no more; an older one must not come back in its place.
      try {
        storage.removeItem(key);
      } catch {
        // The storage takes nothing at all.
      }
    }
  }

  return {
    /** What was kept of the conversation that is shown. */
    text: () => read(keyOf(conversation)),
    keep: (text) => write(keyOf(conversation), text),
    /** The images that were to go with it. */
    images() {
      try {
        return JSON.parse(read(IMAGES_KEY) || "[]").filter(isImage);
      } catch {
        return [];
      }
    },
    /** Keeps images as far as there is room; those of a large message do not survive a reload. */
    keepImages: (images) => write(IMAGES_KEY, images.length > 0 ? JSON.stringify(images) : ""),
    /**
     * A conversation is shown, in whose place `text` stands in the field; returns what is to stand there now. What was written is never
     * thrown away: where the other conversation has a draft too, it stays with its own.
     */
    opened(id, text) {
      const other = String(id);
      if (other === conversation) return text;
      const first = conversation === "";
      if (first) write(keyOf(""), "");
      conversation = other;
      write(CONVERSATION_KEY, other);
      const kept = read(keyOf(other));
      const next = first && text !== "" ? joined(kept, text) : kept;
      write(keyOf(other), next);
      return next;
    },
  };
}

/** Both texts, the first one first; what is empty or already there adds nothing. */
export function joined(first, second) {
  if (first.trim() === "" || second.trim() === first.trim()) return second;
  if (second.trim() === "") return first;
  return `${first}\n\n${second}`;
}
