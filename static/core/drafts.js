// Texts that a person has begun to write in a place and not sent: they live in this tab's storage,
// as those of Chat do (`chat/draft.js`), so that neither another place nor a reload loses them. No
// DOM here.

/** The draft called `name`, in `storage` (like `sessionStorage`): so many texts, in the order in which they were given. */
export function draftOf(storage, name) {
  const key = `level3.typed.${name}`;
  const stored = () => {
    try {
      return storage.getItem(key) ?? "";
    } catch {
      return "";
    }
  };
  let mine = stored();

  /** Keeps these in the place of the former ones; if all are empty, nothing is kept. */
  function keep(...texts) {
    mine = texts.some(Boolean) ? JSON.stringify(texts) : "";
    try {
      // One that cannot be kept is lost, no more; an older one must not come back in its place.
      storage.removeItem(key);
      if (mine) storage.setItem(key, mine);
    } catch {
      // The storage takes no more, or nothing at all.
    }
  }

  return {
    texts() {
      try {
        return JSON.parse(stored()).map(String);
      } catch {
        return [];
      }
    },
    keep,
    /** The person has sent these, but for those that are `left`. Another draft that was begun meanwhile stays. */
    sent: (...left) => stored() === mine && keep(...left),
  };
}
