// Draws a person's eye back to the tab: the title, the favicon, and, if they switched it on, a
// notification of the system.

import { setting } from "../core/settings.js";
import { words } from "../core/words.js";
import { waitingEverywhere } from "../core/workspace.js";
import { newsOf } from "./live.js";

/** A listener for the store. `name()` is the title while nothing waits. */
export function createAttention({ name }) {
  const icon = document.querySelector("link[rel=icon]");
  const plain = icon?.href ?? "";
  const marked = plain.replace("favicon.svg", "favicon-waits.svg");
  let before;
  return (workspace) => {
    const waits = waitingEverywhere(workspace);
    const title = waits > 0 ? `${words.line.title(waits)} · ${words.name}` : name();
    if (document.title !== title) document.title = title;
    const href = waits > 0 ? marked : plain;
    if (icon && icon.href !== href) icon.href = href;
    const news = newsOf(workspace, before);
    if (document.hidden && news.approvals) notify(words.notify.approval, () => dispatchEvent(new CustomEvent("show-approval")));
    else if (document.hidden && news.finished) notify(words.notify.finished, () => dispatchEvent(new CustomEvent("go-conversation", { detail: news.ended })));
    before = news;
  };
}

/** A notification of the system, if they switched it on. A press on it comes back to the tab, and goes to what it tells of by `go()`. */
export function notify(text, go = () => undefined) {
  if (!setting("notify") || globalThis.Notification?.permission !== "granted") return;
  try {
    const shown = new Notification(words.name, { body: text, tag: "level3" });
    shown.onclick = () => (window.focus(), shown.close(), go());
  } catch {
    // Some phones have notifications only for installed pages with a service worker.
  }
}
