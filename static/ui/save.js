// Gives a person a file.

import { h } from "../core/dom.js";

/** Saves `text` as the file `name`. */
export function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has begun by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
