// The choices of a person for this browser: kept here, and known to no server.

const KEY = "level3.settings";

function read() {
  try {
    return JSON.parse(globalThis.localStorage?.getItem(KEY) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/** The choice under `name`, or `fallback`. */
export function setting(name, fallback) {
  return read()[name] ?? fallback;
}

/** Sets it; `undefined` forgets it. A browser that keeps nothing forgets it with the page. */
export function set(name, value) {
  try {
    globalThis.localStorage.setItem(KEY, JSON.stringify({ ...read(), [name]: value }));
  } catch {
    // It holds as long as the page does.
  }
}
