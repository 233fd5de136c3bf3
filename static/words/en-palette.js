// English: the palette, and the dialog that names the keys.

export default {
  palette: {
    title: "Go to or do",
    placeholder: "Go to a place, a conversation, a message or a capability",
    none: "Nothing fits.",
    notAsked: "Nothing fits here. Messages could not be searched.",
    place: "Place",
    conversation: "Conversation",
    capability: "Capability",
    action: "Action",
  },
  shortcuts: {
    title: "Shortcuts",
    palette: "Go to or do",
    help: "Show this",
    new: "New chat",
    search: "Search conversations",
    find: "Find in this conversation",
    write: "To the message field",
    stop: "Stop what runs; twice if something is written",
    turns: "Between turns",
    list: "Fold the list away, or show it",
  },
};
