// All that follows from an instance's state. Pure.

const ENDED = ["COMPLETED", "ABANDONED", "FAILED"];

/** True if nothing more happens in it. */
export const isOver = ({ state }) => ENDED.includes(state);

/** The ways in which a person may steer it now. */
export function steps({ state }) {
  if (ENDED.includes(state)) return [];
  const first = state === "PAUSED" ? ["resume"] : state === "NEEDS_HUMAN_INTERVENTION" ? ["resume"] : ["pause"];
  return [...first, "cancel"];
}

/** Why nothing may be said in it as the agent, as a name of the words; undefined if something may. */
export const noSend = ({ state }) => (ENDED.includes(state) ? "ended" : state === "PAUSED" || state === "QUEUED" ? state : undefined);

/** Rows for `keyed`: an instance is shown anew when something of it changed. */
export const rowsOf = (instances) => instances.map((instance) => ({ key: instance.id, instance, told: JSON.stringify(instance) }));
