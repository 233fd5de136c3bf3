// The part of the server's HTTP interface that the operator needs. `ask(method, path, body)` is that of `api.js`.

/** The questions and orders of a person about the operator. */
export const operatorApi = (ask) => ({
  /** Its conversation, its channel and its tasks. */
  operator: () => ask("GET", "/api/operator"),
  /** What it remembers between tasks. */
  operatorContext: () => ask("GET", "/api/operator/context"),
  /** Writes that whole, from the version that was read. */
  setOperatorContext: (version, document) => ask("PUT", "/api/operator/context", { version, document }),
  /** How the channels stand. */
  operatorChannels: () => ask("GET", "/api/relay/channels"),
});
