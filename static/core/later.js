// Elements whose code comes when the first of its kind is shown: what a person has not met yet need
// not be carried.

import { words } from "./words.js";

/** An element `tag` that `load()`, a dynamic import, defines. Until then it keeps the `data` it is told, and is told it again. */
export function later(tag, load) {
  const node = document.createElement(tag);
  if (customElements.get(tag)) return node;
  const told = () => {
    customElements.upgrade(node);
    if (!Object.hasOwn(node, "data")) return;
    // Told before it was defined, it has a plain field that hides the setter.
    const { data } = node;
    delete node.data;
    node.data = data;
  };
  load()
    .then(told)
    .catch((error) => {
      console.error(`a ${tag} cannot be shown`, error);
      node.textContent = words.say.notLoaded;
    });
  return node;
}
