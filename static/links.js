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
