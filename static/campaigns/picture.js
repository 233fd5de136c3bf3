// A picture of a campaign: it opens large beside the place. One whose bytes are gone is named.

import { h } from "../core/dom.js";
import { addressOf } from "../core/images.js";
import { openDetails } from "../ui/details.js";
import { campaigns as said } from "./words.js";

/** The picture of a version of an artifact, whose content is the sha256 of its bytes. */
export function pictureNode({ artifact_key: key, version, content: sha256 }) {
  const [src, alt] = [addressOf({ sha256 }), said.picture(key, version)];
  const picture = h("img", { src, alt, loading: "lazy", decoding: "async" });
  const link = h("a", { href: src, target: "_blank", rel: "noopener", class: "campaigns-picture", "data-testid": "campaigns-picture" }, picture);
  link.addEventListener("click", (event) => {
    // With a key for a new tab or window the browser does what it always does.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openDetails({ title: alt, body: h("img", { class: "campaigns-large", src, alt }), from: link });
  });
  picture.addEventListener("error", () => link.replaceWith(h("p", { class: "none" }, said.noPicture(sha256))), { once: true });
  return link;
}
