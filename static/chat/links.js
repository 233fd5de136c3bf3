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

/** A character of a name between two dots. */
const PART = String.raw`[\p{L}\p{N}\p{M}_-]`;
/** Endings of file names that are no domains of the top level: `main.js` is nobody's host, but `main.rs` may be one in Serbia. */
const FILES = "css|csv|dll|docx|exe|gif|hpp|html?|ini|jpe?g|jsx?|json|lock|log|pdf|png|pptx|sql|svg|toml|tsx?|txt|wasm|webp|xlsx|xml|ya?ml";
const END = String.raw`(?![\p{L}\p{N}\p{M}_])`;
const NAME = String.raw`(?:${PART}+\.)+(?:xn--[a-z\d-]+|(?!(?:${FILES})${END})[\p{L}\p{M}]{2,})${END}`;
const NUMBERS = String.raw`\d{1,3}(?:\.\d{1,3}){3}(?!\.?[\p{L}\p{N}\p{M}_])`;
/** A name begins where a word begins, so that a long text is read once. */
const BARE = String.raw`(?<!${PART}\.?)(?:${NAME}|${NUMBERS})`;
const AFTER_SLASHES = String.raw`(?<=https?://)(?:\[[\da-f:.]+\]|[\p{L}\p{N}\p{M}_.-]+)`;
/** The rest of an address names no further host. */
const PATH = String.raw`(?::\d+)?\.?(?:[/?#][\p{L}\p{N}\p{M}._~!$&'()*+,;=:@%/?#[\]|-]*)?`;
const HOSTS = new RegExp(`(${AFTER_SLASHES}|${BARE})${PATH}`, "giu");

/** The host of an address in the form in which it is compared; nothing if nobody can ask for it. */
function hostIn(address) {
  try {
    return new URL(address).hostname.replace(/\.$/, "").replace(/^www\./, "");
  } catch {
    return undefined;
  }
}

/**
 * The host that a link leads to, if its text names another one: all in it that can be a host is compared, an address in numbers too. A text that
 * names none promises nothing.
 */
export function namedElsewhere(text, href) {
  const own = hostIn(href);
  // A mail program is opened by no host.
  if (!own) return undefined;
  // A character that nobody sees parts no name; a dot of another script is one to the eye, and to a
  // browser.
  const seen = (text ?? "").replace(/[\p{Cf}\p{DI}]/gu, "").replace(/[\u2024\u3002\uff0e\uff61]/g, ".");
  const named = [...seen.matchAll(HOSTS)].map(([, host]) => hostIn(`https://${host}`));
  return named.every((host) => host === own) ? undefined : new URL(href).hostname;
}
