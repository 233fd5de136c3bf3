// The way to an approval that waits, taken by the dock, the line above and the list.

import { waitingRows } from "../core/approvals.js";

/** Goes to the approval that waits, that of conversation `wanted` if it is a number, in its own conversation; to the inbox, if there are several or it is not known where. */
export async function goToApproval(wanted, { session, router, inTalk, toChat }) {
  const { store } = session;
  const all = waitingRows(store.getState());
  const rows = typeof wanted === "number" ? all.filter(({ conversation }) => conversation === wanted) : all;
  const { shown } = store.getState();
  const here = rows.find(({ conversation }) => conversation === shown);
  if (here && inTalk()) {
    dispatchEvent(new CustomEvent("see-approval"));
    return;
  }
  const to = rows.length === 1 || typeof wanted === "number" ? rows[0] : undefined;
  if (!to) {
    router.go("approvals");
    return;
  }
  try {
    // Its rows first: what is gone to is there then.
    await session.open(to.conversation);
  } catch {
    router.go("approvals");
    return;
  }
  toChat(to.conversation);
  // After the conversation has been shown.
  setTimeout(() => dispatchEvent(new CustomEvent("see-approval")), 50);
}
