// Long text, cut, with a button for the rest: a result of a megabyte must not hold up the page
// nobody asked it on.

import { sizeOf } from "../core/numbers.js";
import { SHOWN_CHARS } from "../core/text.js";
import { words } from "../core/words.js";
import { button } from "../ui/button.js";

/** `text` as nodes made by `render(text)`: whole when it is short, otherwise its beginning and a "show all" button. */
export function cutText(text, render, shownChars = SHOWN_CHARS) {
  // A little over the line is shown whole: a button for ten characters helps nobody.
  if (text.length <= shownChars * 1.25) return [render(text)];
  const start = render(`${text.slice(0, shownChars)}…`);
  const showAll = (node) => {
    start.replaceWith(render(text));
    node.remove();
  };
  return [start, button(words.talk.showAll(sizeOf(text.length)), showAll, { class: "quiet show-all" })];
}
