// The details of a call, a version or a task: beside the place where there is room, else over it,
// and on a phone in its stead. There is one pane: what is opened next takes the place of what is
// shown.

import { h } from "../core/dom.js";
import { styles } from "../core/styles.js";
import { words } from "../core/words.js";
import { iconButton } from "./button.js";

await styles(import.meta.url, "details.css");

/** From this width on the pane stands beside the place. */
const BESIDE = "(min-width: 72.01rem)";

let pane;

/**
 * Shows `body`, a node or several, under `title`. When it is closed the focus goes back to `from`, by default to where it was. Returns the
 * pane, which says `details-closed` when it is taken away, also by what is opened next.
 */
export function openDetails({ title, body, from = document.activeElement }) {
  // A pane that is opened from within another gives the focus back to where the first was opened.
  const back = pane?.node.contains(from) ? pane.back : from;
  take();
  const heading = h("h2", { id: "details-title", tabindex: "-1", dir: "auto" }, title);
  const head = h("header", {}, iconButton("back", words.say.back, closeDetails, { class: "icon-button details-back" }), heading);
  head.append(iconButton("close", words.say.close, closeDetails, { class: "icon-button details-close" }));
  const node = h("dialog", { class: "details", "aria-labelledby": "details-title", "data-testid": "details" }, head);
  node.append(h("div", { class: "details-body" }, body));
  const gone = new AbortController();
  const { signal } = gone;
  pane = { node, back, gone };
  const beside = matchMedia(BESIDE);
  beside.addEventListener("change", () => show(node, beside.matches), { signal });
  // Over the place it closes if a person presses beside it. Between pressing and letting go the
  // pointer may move.
  let outside = false;
  node.addEventListener("pointerdown", (event) => (outside = event.target === node));
  node.addEventListener("click", (event) => event.target === node && outside && !beside.matches && closeDetails());
  // The browser closes it by itself when a phone goes back. One that is shown again in the other
  // way is open by now.
  node.addEventListener("close", () => !node.open && pane?.node === node && closeDetails());
  document.addEventListener("keydown", escape, { signal });
  // It belongs to what was shown; one that an address asked for is opened with that address.
  const { hash } = location;
  addEventListener("hashchange", () => location.hash !== hash && closeDetails(), { signal });
  (document.querySelector("main") ?? document.body).append(node);
  show(node, beside.matches);
  heading.focus({ preventScroll: true });
  return node;
}

/** Closes the pane, if there is one, and gives the focus back if it was in it. */
export function closeDetails() {
  const { activeElement } = document;
  const had = pane?.node.contains(activeElement) || activeElement === document.body;
  const back = take();
  if (!back || !had) return;
  const target = back.isConnected ? back : document.querySelector("main > [tabindex]:not([hidden])");
  target?.focus({ preventScroll: true });
}

/** A pane beside the place leaves the rest of the page in reach; one over it does not. */
function show(node, isBeside) {
  const { activeElement } = document;
  if (node.open) node.close();
  if (isBeside) node.show();
  else node.showModal();
  if (node.contains(activeElement)) activeElement.focus({ preventScroll: true });
}

function take() {
  if (!pane) return undefined;
  const { node, back, gone } = pane;
  pane = undefined;
  gone.abort();
  node.close();
  node.remove();
  node.dispatchEvent(new Event("details-closed"));
  return back;
}

function escape(event) {
  if (event.key !== "Escape" || event.isComposing || event.defaultPrevented || isCovered()) return;
  // Else the same key would stop the turn, too.
  event.preventDefault();
  closeDetails();
}

/** True if something lies over the pane, which Escape closes first. */
function isCovered() {
  const dialogs = [...document.querySelectorAll("dialog:modal")];
  return document.querySelector(".menu:popover-open") !== null || dialogs.some((each) => each !== pane.node);
}
