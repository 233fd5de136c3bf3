// Loads modules of `static/` in node. The folder has no package.json (it is served as it is), so
// node is told here that its files are ES modules.

import { register } from "node:module";

const hook = `
export async function load(url, context, next) {
  return next(url, url.includes("/static/") && url.endsWith(".js") ? { ...context, format: "module" } : context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

/** The module `file` of `static/`. */
export const load = (file) => import(new URL(`../../static/${file}`, import.meta.url));

// Modules that define elements can be loaded for the pure functions beside them; node has no
// elements.
globalThis.HTMLElement ??= class {};
globalThis.customElements ??= { define() {}, get() {} };
