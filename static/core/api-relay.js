// The part of the server's HTTP interface that Relay needs: conversations with outside people.
// `ask(method, path, body)` is that of `api.js`.

/** The questions and orders of a person about Relay. */
export function relayApi(ask) {
  const at = (...parts) => `/api/relay/${parts.map(encodeURIComponent).join("/")}`;
  return {
    /** The newest instances. */
    relayInstances: (limit) => ask("GET", `${at("instances")}?limit=${limit}`),
    /** One instance. */
    relayInstance: (id) => ask("GET", at("instances", id)),
    /** The messages in it after `seq`, the oldest first. */
    relayTranscript: (id, seq = 0, limit = 500) => ask("GET", `${at("instances", id, "transcript")}?after=${seq}&limit=${limit}`),
    /** Steers it: `pause`, `resume` or `cancel`. */
    relaySteer: (id, how) => ask("POST", at("instances", id, how), {}),
    /** Says something as the agent; the same `key` is the same message. */
    relaySend: (id, text, key) => ask("POST", at("instances", id, "send"), { text, id: key }),
    /** Every message of which nobody knows whether it was sent. */
    relayUnknown: () => ask("GET", at("unknown")),
    /** Sends such a message again. */
    relayResend: (message) => ask("POST", at("messages", message, "resend"), {}),
    /** Says what became of it: `sent` or `lost`. */
    relaySettle: (message, as) => ask("POST", at("messages", message, "settle"), { as }),
    /** The channels with their states. */
    relayChannels: () => ask("GET", at("channels")),
    /** Ends the session of a channel at its service. */
    relayLogout: (name) => ask("POST", at("channels", name, "logout"), {}),
    /** Lets a channel write to new contacts again, after the service refused that. */
    relayUnlock: (name) => ask("POST", at("channels", name, "unlock"), {}),
    /** The programs that are told of changes. */
    relayWebhooks: () => ask("GET", at("webhooks")),
    /** Adds one; the answer has its `secret`, this once. `withText`: it is told the reason too. */
    relayAddWebhook: (url, withText) => ask("POST", at("webhooks"), { url, with_text: withText }),
    /** Takes one away. */
    relayRemoveWebhook: (id) => ask("DELETE", at("webhooks", id)),
    /** Tells one something now: `{ ok, status, error }`. */
    relayTryWebhook: (id) => ask("POST", at("webhooks", id, "test"), {}),
    /** The messages that a phone of the test channel holds. */
    loopbackPhone: (address, after = 0) => ask("GET", `${at("loopback")}?${new URLSearchParams({ address, after })}`),
    /** Says something over the test channel, as a contact. */
    loopbackSay: (address, text, id) => ask("POST", at("loopback"), { address, text, id }),
  };
}

/** A session whose `api` can ask them. */
export const withRelay = (session) => ({ ...session, api: { ...relayApi(session.api.ask), ...session.api } });
