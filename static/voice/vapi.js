// A voice of Vapi's: the page joins a room, sends the sound of the microphone there and plays what
// comes back. Words go between Vapi and the server; the page is told of them and says none.

/** The message by which a page says that it can play, and the one by which Vapi says that it hears. */
const PLAYABLE = "playable";
const LISTENING = "listening";

/** Daily's reasons for which a room is over for good. After any other one the line broke. */
const OVER = new Set(["ejected", "exp-room", "exp-token", "end-of-life"]);

/** True if this browser can join a room. */
export const canJoin = (from = globalThis) => Boolean(from.RTCPeerConnection && from.navigator?.mediaDevices?.getUserMedia);

/** The browser's reason, as the browser's recogniser would have said it. */
function codeOf(error) {
  const text = `${error?.type ?? ""} ${error?.msg ?? error ?? ""}`.toLowerCase();
  if (/permission|notallowed|denied/.test(text)) return "not-allowed";
  return /not-?found|in-?use|constraint|undefined-mediadevices/.test(text) ? "audio-capture" : "connection";
}

/** Plays a track. Gives a way to stop it. */
export function playTrack(track, from = globalThis) {
  const audio = new from.Audio();
  audio.srcObject = new from.MediaStream([track]);
  audio.autoplay = true;
  audio.play()?.catch(() => undefined);
  return () => {
    audio.pause();
    audio.srcObject = null;
  };
}

/** The content of an app message; a text is itself. */
function read(data) {
  if (typeof data !== "string" || data === LISTENING) return data;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/**
 * A voice as that of `service.js`, for the room `{ url, token }` of a call. `load()` gives Daily's module. It `carries` the words itself: nothing
 * of what it hears is sent by the page, and nothing of an answer is spoken by the page.
 */
export function createVapiVoice({ room, load, tell, play = playTrack }) {
  let call;
  let isOver = false;
  let isHeard = false;
  let silences = [];
  let isSpeaking = false;
  let last = "";
  const change = (state) => tell("state", state);

  function fail(code) {
    if (isOver) return;
    end();
    tell("error", code);
  }

  function end() {
    isOver = true;
    for (const silence of silences) silence();
    silences = [];
    const own = call;
    call = undefined;
    own?.leave().catch(() => undefined).then(() => own.destroy()).catch(() => undefined);
  }

  /** Tracks come only of a participant who is subscribed to. */
  const subscribe = ({ participant }) => {
    if (!participant.local) call?.updateParticipant(participant.session_id, { setSubscribedTracks: { audio: true, video: false, screenVideo: false } });
  };

  function started({ participant, track }) {
    if (isOver || participant?.local || track?.kind !== "audio") return;
    silences.push(play(track));
    call.sendAppMessage(PLAYABLE);
  }

  function told({ data }) {
    const message = read(data);
    if (isOver || message === undefined || message === null) return;
    if (message === LISTENING) {
      isHeard = true;
      change("active");
      return;
    }
    const { type = "", role, status, transcript = "", transcriptType } = message;
    if (type.startsWith("transcript")) {
      const isFinal = transcriptType === "final" || /final/.test(type);
      if (role === "user") tell("transcript", { text: transcript, isFinal });
      else if (isFinal) last = transcript;
    } else if (type === "speech-update") {
      if (role === "user") tell("sound", status === "started");
      else spoke(status === "started");
    } else if (type === "tool-calls") {
      for (const each of message.toolCallList ?? []) tell("function", each.function?.name ?? each.name);
    } else if (type === "status-update" && status === "ended") fail("ended");
  }

  function spoke(is) {
    isSpeaking = is;
    // The words stand in the chat; here is only that Law speaks.
    tell("response", is ? last || "…" : "");
  }

  async function join() {
    try {
      const { default: Daily } = await load();
      if (isOver) return;
      call = Daily.createCallObject({ audioSource: true, videoSource: false, dailyConfig: { avoidEval: true } });
      call.on("participant-joined", subscribe);
      call.on("track-started", started);
      call.on("app-message", told);
      call.on("camera-error", ({ error }) => fail(codeOf(error)));
      call.on("error", ({ error }) => fail(!isHeard ? codeOf(error) : OVER.has(error?.type) ? "ended" : "lost"));
      call.on("left-meeting", () => fail("ended"));
      call.on("participant-left", ({ participant }) => !participant.local && fail("ended"));
      await call.join({ url: room.url, ...(room.token && { token: room.token }), subscribeToTracksAutomatically: false });
      // Those who were there before this page.
      for (const participant of Object.values(call?.participants() ?? {})) subscribe({ participant });
    } catch (error) {
      fail(codeOf(error));
    }
  }

  return {
    carries: true,
    startSession() {
      change("connecting");
      join();
    },
    endSession() {
      end();
      change("idle");
    },
    deafen: () => call?.setLocalAudio(false),
    setMuted: (is) => call?.setLocalAudio(!is),
    interrupt: () => [],
    /** Has Vapi say it: a warning, or, if it `isLast`, the last words, behind which it hangs up. */
    say: (text, isLast = false) => call?.sendAppMessage(JSON.stringify({ type: "say", message: text, endCallAfterSpoken: isLast })),
    isSpeaking: () => isSpeaking,
  };
}
