// A message that a person has begun to write and not sent. It lives in the tab's storage, one for
// each conversation, so that neither a reload nor a restart of the server loses it. No DOM here.

import { isImage, MAX_IMAGES } from "../core/images.js";

const STORAGE_KEY = "level3.draft";
const IMAGES_KEY = "level3.draft-images";
const FILES_KEY = "level3.draft-files";
const CONVERSATION_KEY = "level3.conversation";

const keyOf = (conversation) => `${STORAGE_KEY}.${conversation}`;
const isFile = (file) => typeof file?.name === "string" && typeof file.text === "string";

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
      // A draft that cannot be kept is lost on reload, no more; an older one must not come back in
      // its place.
      try {
        storage.removeItem(key);
      } catch {
        // The storage takes nothing at all.
      }
    }
  }

  /** A list that goes with the text, kept under `prefix`; `valid` says what may come back. A large one does not survive a reload. */
  function listOf(prefix, valid) {
    /** conversation → its list, since the storage has no room for large ones. */
    const held = new Map();
    const stored = () => {
      try {
        return JSON.parse(read(`${prefix}.${conversation}`) || "[]").filter(valid);
      } catch {
        return [];
      }
    };
    return {
      all() {
        if (!held.has(conversation)) held.set(conversation, stored());
        return held.get(conversation);
      },
      keep(all) {
        held.set(conversation, all);
        write(`${prefix}.${conversation}`, all.length > 0 ? JSON.stringify(all) : "");
      },
    };
  }

  const images = listOf(IMAGES_KEY, isImage);
  const files = listOf(FILES_KEY, isFile);

  return {
    /** The draft kept of the conversation that is shown. */
    text: () => read(keyOf(conversation)),
    keep: (text) => write(keyOf(conversation), text),
    /** The images that were to go with it, and the text files. */
    images: images.all,
    keepImages: images.keep,
    files: files.all,
    keepFiles: files.keep,
    /**
     * A conversation is shown, in whose place `text` stands in the field; returns what is to stand there now. Words that were
     * written, and what was to go with them, are never thrown away: if the other conversation has a draft too, they stay with their own.
     */
    opened(id, text) {
      const other = String(id);
      if (other === conversation) return text;
      const first = conversation === "";
      const begun = first ? [images.all(), files.all()] : [[], []];
      if (first) {
        write(keyOf(""), "");
        images.keep([]);
        files.keep([]);
      }
      conversation = other;
      if (begun[0].length > 0) images.keep([...images.all(), ...begun[0]].slice(0, MAX_IMAGES));
      if (begun[1].length > 0) files.keep([...files.all(), ...begun[1]]);
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
