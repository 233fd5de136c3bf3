// Tasks in the state of a conversation: from its frames, and from the server's list. Pure; touches
// no DOM.

/** A task was made, changed or deleted. A frame that comes late changes nothing. */
export function taskChanged(state, frame) {
  const known = state.tasks.get(frame.task.id);
  if (known?.seq >= frame.seq) return state;
  const task = { ...frame.task, seq: frame.seq, deleted: frame.deleted === true };
  return { ...state, tasks: new Map(state.tasks).set(task.id, task) };
}

/** Tasks as the server has them. A frame that came meanwhile and is newer stays. */
export function tasksListed(state, entries) {
  if (!entries) return state;
  const there = new Set(entries.map(({ id }) => id));
  // A task that only a list told of, and that is in it no more, was deleted where nobody here
  // looked.
  const tasks = new Map([...state.tasks].filter(([id, { seq }]) => seq > 0 || there.has(id)));
  for (const entry of entries) {
    const known = tasks.get(entry.id);
    if (known && Date.parse(known.updated_at) >= Date.parse(entry.updated_at)) continue;
    tasks.set(entry.id, { ...entry, seq: known?.seq ?? 0, deleted: false });
  }
  return { ...state, tasks };
}
