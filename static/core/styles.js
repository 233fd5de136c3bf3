// The styles of a place, loaded with it.

/** Loads style sheets that stand beside the module at `base` (its `import.meta.url`), each once; resolves when they hold. */
export function styles(base, ...files) {
  const loads = files.map((file) => {
    const href = new URL(file, base).href;
    if ([...document.styleSheets].some((sheet) => sheet.href === href)) return undefined;
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
    // A place without its style can still be read: it does not wait for ever.
    const done = new Promise((resolve) => (link.onload = link.onerror = resolve));
    document.head.append(link);
    return done;
  });
  return Promise.all(loads);
}
