// Tasks and capabilities as they are listed, computed from the state. Pure, like the reducer.

/** Tasks: open ones by due time, then those without, and how many are closed. */
export function taskLists(state) {
  const all = [...state.tasks.values()].filter((task) => !task.deleted);
  const open = all.filter((task) => task.status === "pending" || task.status === "in_progress");
  const due = (task) => (task.due_at ? Date.parse(task.due_at) : Infinity);
  open.sort((a, b) => (due(a) === due(b) ? a.id - b.id : due(a) - due(b)));
  const closed = all.filter((task) => !open.includes(task)).sort((a, b) => b.seq - a.seq);
  return { open, closed };
}

/** Capabilities by name: what the server listed, or what frames said while there is no list. */
export function capabilityList(state) {
  const heard = [...state.capabilities.values()].map(({ name, version, enabled }) => ({ name, version, enabled }));
  return (state.lists.capabilities?.entries ?? heard).toSorted((a, b) => a.name.localeCompare(b.name));
}
