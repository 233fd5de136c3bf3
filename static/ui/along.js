// Arrow keys along the line of text.

const TURNED = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };

/** The key that was pressed, as it would be where text runs from left to right: `ArrowRight` always goes on. */
export function keyAlong({ key, currentTarget }) {
  const turns = Object.hasOwn(TURNED, key) && getComputedStyle(currentTarget).direction === "rtl";
  return turns ? TURNED[key] : key;
}
