// Small pictures of the images of a message: before it is sent, with a button to take each away,
// and in the conversation.

import { h } from "../core/dom.js";
import { addressOf, wordsOf } from "../core/images.js";
import { words } from "../core/words.js";
import { iconButton } from "../ui/button.js";

/** Shows a picture large; with a key for a new tab or window the browser opens it. */
async function large(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const from = event.currentTarget;
  const { src, alt } = from.querySelector("img");
  const { openDetails } = await import("../ui/details.js");
  openDetails({ title: words.chat.large, body: h("img", { class: "large-image", src, alt }), from });
}

/** A list of `images`; with `remove(index)` each can be taken away, without it each opens whole. */
export function thumbnails(images, remove) {
  const small = (image, index) => {
    const picture = h("img", {
      src: addressOf(image),
      alt: wordsOf(image, index + 1),
      loading: "lazy",
      decoding: "async",
      draggable: "false",
    });
    if (remove) {
      const button = iconButton("close", words.talk.removeImage(index + 1), () => remove(index), { class: null });
      return h("li", { "data-testid": "thumbnail" }, picture, button);
    }
    // A browser does not open a `data:` address; until the message is recorded there is nothing to
    // open.
    if (image.data !== undefined) return h("li", { "data-testid": "thumbnail" }, picture);
    return h(
      "li",
      { "data-testid": "thumbnail" },
      h("a", { href: addressOf(image), target: "_blank", rel: "noopener", onclick: large }, picture),
    );
  };
  return h("ul", { class: "thumbnails" }, images.map(small));
}
