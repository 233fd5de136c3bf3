// Loads a vendored library that is a plain script and not a module, when it is used first.

import { words } from "../core/words.js";

const loads = new Map();

/** The global `name` that the script `file` of `vendor/` makes. */
export function library(file, name) {
  if (!loads.has(file)) {
    const script = document.createElement("script");
    script.src = new URL(`../vendor/${file}`, import.meta.url).href;
    const load = new Promise((resolve, reject) => {
      script.onload = () => (globalThis[name] ? resolve(globalThis[name]) : reject(new TypeError(`${file} has no ${name}`)));
      script.onerror = () => reject(new Error(words.say.notLoaded));
    });
    // A script that could not be loaded may be tried again.
    load.catch(() => loads.delete(file));
    loads.set(file, load);
    document.head.append(script);
  }
  return loads.get(file);
}
