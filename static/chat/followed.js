// Things that a press in the conversation follows: links that say where they lead, and pictures,
// which open large.

import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { namedElsewhere } from "./links.js";

/** A listener for presses on the list. With a key for a new tab or window, or the middle button, a picture opens as the browser opens it. */
export async function followed(event) {
  const link = event.target.closest?.("a[href]");
  // The menu of the browser, by the last button, opens nothing yet.
  if (!link || event.button === 2) return;
  const picture = link.querySelector("img");
  if (picture && link.closest(".thumbnails") && !(event.ctrlKey || event.metaKey || event.shiftKey || event.button === 1)) {
    event.preventDefault();
    const { openDetails } = await import("../ui/details.js");
    openDetails({ title: words.chat.large, body: h("img", { class: "large-image", src: picture.src, alt: picture.alt }), from: link });
    return;
  }
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
