// Conversations that the list does not hold at first: those that were put away, and older ones.
// `list` is the element of `conversations.js`.

/** The page of conversations behind the place `after`; with `archived`, of those put away. */
function page({ context: { session } }, { archived, after }) {
  const query = new URLSearchParams({ ...(archived && { archived: "true" }), ...(after && { after }) });
  return session.api.ask("GET", `/api/conversations?${query}`);
}

/** Keeps the row of `conversation` as a list has it, also if it was put away; rejects if none has it. */
export async function seek({ context: { session }, sought }, conversation) {
  sought.set(conversation, await session.api.ask("GET", `/api/conversations/${encodeURIComponent(conversation)}`));
}

/** Shows those that were put away in place of the others, or the others again. */
export async function showArchived(list) {
  // An answer that is on its way does not bring them back.
  if (list.away) list.away = list.asking = undefined;
  else await loadArchived(list);
  list.archive.setAttribute("aria-pressed", String(Boolean(list.away)));
  list.show();
}

/** Those of the first page, or behind `known` of the next one. If they cannot be had, those that were known stay, and it says why. The newest question counts. */
export async function loadArchived(list, known) {
  const mine = (list.asking = {});
  try {
    const { conversations, next } = await page(list, { archived: true, after: known?.next });
    if (list.asking !== mine) return;
    list.away = { conversations: [...(known?.conversations ?? []), ...conversations], next };
  } catch ({ message }) {
    if (list.asking !== mine) return;
    list.away = { conversations: [], ...list.away, error: message };
  }
  list.show();
}

/** Shows the next page of what is shown. */
export async function showMore(list) {
  if (list.away) return loadArchived(list, list.away);
  try {
    const { conversations, next } = await page(list, { after: list.behind });
    list.more = [...list.more, ...conversations];
    list.behind = next ?? "";
    list.show();
  } catch (error) {
    list.empty.hidden = false;
    list.empty.textContent = error.message;
  }
  return undefined;
}
