// The part of the server's HTTP interface that the operator needs. `ask(method, path, body)` is
// that of `api.js`.

/** The questions and orders of a person about the operator. */
export const operatorApi = (ask) => ({
  /** Its conversation, its channel and its tasks. */
  operator: () => ask("GET", "/api/operator"),
  /** The record of a task, event by event. */
  operatorCourse: (task) => ask("GET", `/api/replay/turns/${encodeURIComponent(task)}`),
  /** Its risky actions, each with its result and the pictures there are. */
  operatorRecordings: (task) => ask("GET", `/api/operator/tasks/${encodeURIComponent(task)}/recordings`),
  /** The address of a file that came or was sent. */
  operatorMedia: (name) => `/api/operator/media/${encodeURIComponent(name)}`,
  /** The address of the screen `before` or `after` a risky action. */
  recordedPicture: (task, call, when) => `/api/operator/tasks/${encodeURIComponent(task)}/recordings/${encodeURIComponent(call)}/${encodeURIComponent(when)}`,
  /** The document that it remembers between tasks. */
  operatorContext: () => ask("GET", "/api/operator/context"),
  /** Writes that whole, from the version that was read. */
  setOperatorContext: (version, document) => ask("PUT", "/api/operator/context", { version, document }),
  /** How the channels stand. */
  operatorChannels: () => ask("GET", "/api/relay/channels"),
});
