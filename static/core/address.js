// The address within the page: `#chat/7`, `#capabilities/roman/v2`. Pure.

/** `{ place, parts }` of a hash; no place means the first one. */
export function parseAddress(hash) {
  const [place = "", ...parts] = hash.replace(/^#/, "").split("/").map(decoded);
  return { place, parts: parts.filter((part) => part !== "") };
}

/** The hash of a place and the parts below it. */
export function addressOf(place, ...parts) {
  return `#${[place, ...parts].map((part) => encodeURIComponent(part)).join("/")}`;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
