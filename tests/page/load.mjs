// Loads modules of `static/` in node. The folder has no package.json (it is served as it is), so node is told here that its
// files are ES modules.

import { register } from "node:module";

const hook = `
export async function load(url, context, next) {
  return next(url, url.includes("/static/") && url.endsWith(".js") ? { ...context, format: "module" } : context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

/** The module `file` of `static/`. */
export const load = (file) => import(new URL(`../../static/${file}`, import.meta.url));
