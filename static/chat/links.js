// Which addresses text from outside may lead to. Pure, so that it is tested without a browser.

/** The address as a link's `href`, or `undefined` when it leads anywhere else than to a web page or a mail program. */
export function safeHref(address) {
  if (typeof address !== "string") return undefined;
  // Browsers skip these inside a scheme: "java\nscript:" is "javascript:".
  const plain = address.replace(/[\u0000-\u0020\u007f-\u00a0]/g, "");
  if (!/^(https?:\/\/|mailto:)/i.test(plain)) return undefined;
  try {
    return new URL(plain).href;
  } catch {
    return undefined;
  }
}

/** True for a picture that is shown in place: one that carries its own bytes, so that nothing is fetched. */
export function isInlineImage(address) {
  return typeof address === "string" && /^data:image\/(png|jpeg|gif|webp);base64,[a-z0-9+/=\s]+$/i.test(address);
}

/** The host that a link's text names, if it leads to another one; a text that names none promises nothing. */
export function namedElsewhere(text, href) {
  const found = /^\s*(?:https?:\/\/)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?::\d+)?(?:[/?#]\S*)?\s*$/u.exec(text ?? "");
  if (!found) return undefined;
  try {
    const plain = (host) => host.toLowerCase().replace(/^www\./, "");
    const { protocol, hostname } = new URL(href);
    if (protocol === "mailto:") return undefined;
    // A host in letters of other scripts is compared in the form in which it is asked for.
    const named = new URL(`https://${found[1]}`).hostname;
    return plain(named) === plain(hostname) ? undefined : hostname;
  } catch {
    return undefined;
  }
}
