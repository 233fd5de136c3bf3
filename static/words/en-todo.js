// English: the focus timer and the questions of Lea and Law, which are met in every place.

export default {
  question: {
    yes: "Yes",
    no: "No",
    byWord: "Yes or no can also be said. Anything else declines it, and is heard.",
    sending: "Sending your answer…",
    offline: "Not connected; an answer can be sent when the server is back.",
    answers: { approved: "Yes", denied: "No", expired: "Nobody answered in time, so nothing was done.", void: "This question no longer counts." },
    instead: "You said something else, so nothing was done.",
  },
  timer: {
    label: "Focus timer",
    running: "Focus",
    paused: "Paused",
    of: (minutes) => (minutes === 1 ? "of 1 minute" : `of ${minutes} minutes`),
    left: (clock) => `${clock} left`,
    pause: "Pause",
    resume: "Resume",
    stop: "Stop",
    failed: (reason) => `The timer did not change. ${reason}`,
    notDone: "This was not carried out.",
  },
};
