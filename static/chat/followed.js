// Links of an answer that say where they lead: one whose text names another host asks first.

import { words } from "../core/words.js";
import { namedElsewhere } from "./links.js";

/** A listener for presses on links, also those with the middle button. */
export async function followed(event) {
  const link = event.target.closest?.("a[href]");
  // The menu of the browser, by the last button, opens nothing yet.
  if (!link || event.button === 2) return;
  const host = namedElsewhere(link.textContent, link.href);
  if (host === undefined) return;
  event.preventDefault();
  const [{ ask }, { plainVisible }] = await Promise.all([import("../ui/dialog.js"), import("../core/visible.js")]);
  ask({
    title: words.chat.elsewhereTitle,
    text: words.chat.elsewhereText(plainVisible(link.textContent.trim().slice(0, 200)), host),
    yes: words.chat.elsewhereGo,
    kind: "plain",
    action: () => open(link.href, "_blank", "noopener,noreferrer"),
  });
}
