// English: words that are looked for in a conversation, and places in it that an address names.

export default {
  find: {
    label: "Find in this conversation",
    looking: "Looking…",
    none: "Nothing found",
    of: (at, count) => `${at} of ${count}`,
    previous: "The one before",
    next: "The next one",
    close: "Close",
    notThere: "This place is not in the conversation.",
    notLoaded: (why) => `What is further back could not be loaded. ${why}`,
  },
};
