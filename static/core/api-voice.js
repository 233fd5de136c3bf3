// The part of the server's HTTP interface about calls with Law. `ask(method, path, body)` is that
// of `api.js`.

import { words } from "./words.js";

/** The address of a call. */
export const callAddress = (call) => `/api/voice/calls/${encodeURIComponent(call)}`;

/** The questions and orders of a call. */
export function voiceApi(ask) {
  return {
    /** How much may be talked, the call that goes on, and the speech servers. */
    line: () => ask("GET", "/api/voice"),
    /** Begins a call; `takeOver` ends the one that goes on in another tab. `lang` is the tag of the language of what the server says itself. */
    begin: (adapter, takeOver, lang) => ask("POST", "/api/voice/calls", { adapter, take_over: takeOver, lang }),
    /** It goes on. */
    beat: (call) => ask("POST", `${callAddress(call)}/beat`, {}),
    /** It is over; `failed`: the page could not go on. */
    end: (call, failed) => ask("DELETE", `${callAddress(call)}${failed ? "?failed=true" : ""}`),
  };
}

/** Sound to words and words to sound, by the speech servers of the operator. Rejects with a sentence for a person, as `api.js` does. */
export function speechApi(fetch = (...all) => globalThis.fetch(...all)) {
  async function post(path, type, body, signal) {
    const response = await fetch(path, { method: "POST", headers: { "content-type": type }, body, signal, cache: "no-store" }).catch((error) => {
      throw signal?.aborted ? error : new Error(words.failed.unreachable);
    });
    if (response.ok) return response;
    const answer = await response.json().catch(() => undefined);
    throw Object.assign(new Error(answer?.error || words.failed.refused(response.status)), { status: response.status });
  }
  return {
    /** The words in a WAV file: `{ text }`. `lang` is the tag of the language that is spoken in it. */
    transcribe: async (wav, lang) => (await post(`/api/voice/transcriptions?lang=${encodeURIComponent(lang)}`, "audio/wav", wav)).json(),
    /** The bytes of a WAV file that says `text`. */
    speak: async (text, signal) => (await post("/api/voice/speech", "application/json", JSON.stringify({ text }), signal)).arrayBuffer(),
  };
}
