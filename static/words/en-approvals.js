// English: the card of an approval, and the inbox of them.

const approval = {
  title: "level3 asks for your approval",
  in: (title) => `in “${title}”`,
  approve: "Approve",
  always: "Always for this capability",
  deny: "Deny",
  reason: "Reason, for the assistant (optional)",
  reasonLabel: "Reason for denying, for the assistant (optional)",
  sending: { approve: "Approving…", always: "Approving…", deny: "Denying…" },
  offline: "Not connected; a decision can be sent when the server is back.",
  unread: "Approve works once the beginning of this card has been in sight.",
  folded: (count) => (count === 1 ? "Approve works once the folded text has been opened and seen." : `Approve works once the ${count} folded texts have been opened and seen.`),
  rest: "Approve works once all of this card has been in sight.",
  soon: "Approve works in a moment.",
  showAll: (lines) => `Show all ${lines} lines`,
  grants: "From then on it may",
  noGrants: "Nothing outside its sandbox.",
  why: "Why you are asked:",
  differences: "Recorded calls it would answer otherwise",
  recordedCall: "A recorded call",
  changes: (version) => `What changes from version ${version}`,
  changedLines: "Changed lines",
  sourceStays: "The source stays as it is.",
  source: (lines, size) => `The source, whole: ${lines} ${lines === 1 ? "line" : "lines"}, ${size}`,
  theSource: "The source",
  arguments: "The arguments",
  noArguments: "None.",
  exactArguments: "The arguments, exactly",
  otherArguments: "The other arguments, exactly",
  argument: (name) => `The argument ${name}, exactly`,
  sameAsSource: (name) => `The argument ${name} is the source above, letter by letter.`,
};

const approvals = {
  waits: "Waiting for you",
  none: "Nothing waits",
  noneHelp: "If the assistant wants something that needs your word, in any conversation, it stands here until you decide or its time is over.",
  decided: "Decided",
  noDecisions: "Nothing was decided yet.",
  missingHelp: "The newest 200 approvals stand here; it may be an older one.",
  states: { approved: "Approved", denied: "Denied", expired: "Not answered in time", void: "No longer counts" },
  by: {
    page: "by you, on this page",
    api: "by you, over the command line or the API",
    words: "by you, with a word in the conversation",
    voice: "by you, with a spoken word",
    instead: "by you, by saying something else",
    clock: "by nobody",
  },
};

export default { approval, approvals };
