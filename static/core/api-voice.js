// The part of the server's HTTP interface about calls with Law. `ask(method, path, body)` is that of `api.js`.

/** The address of a call. */
export const callAddress = (call) => `/api/voice/calls/${encodeURIComponent(call)}`;

/** The questions and orders of a call. */
export function voiceApi(ask) {
  return {
    /** How much may be talked, and the call that goes on. */
    line: () => ask("GET", "/api/voice"),
    /** Begins a call; `takeOver` ends the one that goes on in another tab. */
    begin: (adapter, takeOver) => ask("POST", "/api/voice/calls", { adapter, take_over: takeOver }),
    /** It goes on. */
    beat: (call) => ask("POST", `${callAddress(call)}/beat`, {}),
    /** It is over; `failed`: the page could not go on. */
    end: (call, failed) => ask("DELETE", `${callAddress(call)}${failed ? "?failed=true" : ""}`),
  };
}
