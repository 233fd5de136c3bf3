// Follows an order of a person: a turn with one call that no model asked for. Touches no DOM.

/** So many newest events are looked at for the outcome; if it is not among them, so many more. */
const LOOKS = [20, 400];
const OVER = new Set(["completed", "aborted", "failed"]);
const PAUSE_MS = 1000;

/**
 * Waits for what comes of an order (`{ turn, conversation }`): `{ state, said, result }`. `state` is `done`, `failed`, `unknown` (it may or may
 * not have happened) or `waits`, for a person's approval. `said` is a sentence for a person, if the server has one, and `result` the frame
 * with the outcome. Gives nothing once `signal` is aborted.
 *
 * An order that was accepted is carried out whatever becomes of the line, so a line that breaks is waited for.
 */
export async function settled(api, { turn, conversation }, signal, pause = wait) {
  for (;;) {
    const report = await reported(api, turn);
    if (signal?.aborted) return undefined;
    if (!report) {
      await pause();
      continue;
    }
    if (report.approval !== null && report.approval !== undefined) return { state: "waits", approval: report.approval, conversation };
    if (OVER.has(report.state)) return { ...(await outcome(api, report, turn, conversation)), conversation };
  }
}

/**
 * Carries out what `order()` asks of the server, to its outcome as `settled` gives it; an order that is refused has failed, and nothing is thrown. Then the
 * list of tasks is known anew. Gives nothing once `signal` is aborted.
 */
export async function carried({ api, lists }, order, signal) {
  let outcome;
  try {
    outcome = await settled(api, await order(), signal);
  } catch (error) {
    outcome = { state: "failed", said: error.message };
  }
  if (signal.aborted) return undefined;
  await lists.load("tasks");
  return outcome;
}

const wait = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

/** How far the turn is; nothing if nobody answers now. */
async function reported(api, turn) {
  try {
    return await api.turn(turn);
  } catch (error) {
    if (error.status === undefined || error.status >= 500) return undefined;
    throw error;
  }
}

async function outcome(api, report, turn, conversation) {
  for (const limit of LOOKS) {
    const page = await api.newestFrames(conversation, limit).catch(() => undefined);
    const result = page?.frames.findLast((frame) => frame.type === "tool_result" && frame.turn === turn);
    if (result) return { state: stateOf(result), said: result.said, result };
  }
  const ok = report.state === "completed" && report.results.every((each) => each.ok);
  return { state: ok ? "done" : "failed", said: report.reason ?? undefined };
}

function stateOf({ ok, uncertain }) {
  if (ok === false) return uncertain ? "unknown" : "failed";
  return "done";
}
