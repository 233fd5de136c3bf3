// The differences between two texts, line by line, as a unified diff of the whole, or of the places
// alone. Pure.

/** More pairs of lines than this are not compared: all of the old text goes, all of the new one comes. */
const MOST_PAIRS = 4_000_000;

/** The diff of two texts; "" if they are the same. */
export function lineDiff(before, after) {
  if (before === after) return "";
  const [old, now] = [before.split("\n"), after.split("\n")];
  const same = shared(old, now);
  const lines = [];
  let [a, b] = [0, 0];
  for (const [toA, toB] of [...same, [old.length, now.length]]) {
    while (a < toA) lines.push(`-${old[a++]}`);
    while (b < toB) lines.push(`+${now[b++]}`);
    if (a < old.length && b < now.length) {
      lines.push(` ${old[a]}`);
      [a, b] = [a + 1, b + 1];
    }
  }
  return [`@@ -1,${old.length} +1,${now.length} @@`, ...lines].join("\n");
}

/**
 * The places at which two texts differ, as a unified diff without the lines around them: "" if they are the same, and nothing if more of them
 * differs than is the same.
 */
export function changesWithin(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const same = shared(old, now);
  const kept = same.reduce((sum, [at]) => sum + old[at].length + 1, 0);
  if (before.length + after.length > 4 * kept) return undefined;
  const lines = [];
  let [a, b] = [0, 0];
  for (const [toA, toB] of [...same, [old.length, now.length]]) {
    if (a < toA || b < toB) lines.push(`@@ -${a + 1},${toA - a} +${b + 1},${toB - b} @@`);
    lines.push(...old.slice(a, toA).map((line) => `-${line}`), ...now.slice(b, toB).map((line) => `+${line}`));
    [a, b] = [toA + 1, toB + 1];
  }
  return lines.join("\n");
}

/** The pairs of places at which both have the same line, in order: as many as there can be. */
function shared(old, now) {
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const [height, width] = [old.length - head - tail, now.length - head - tail];
  const pairs = Array.from({ length: head }, (_, at) => [at, at]);
  if (height * width <= MOST_PAIRS) pairs.push(...middle(old.slice(head, head + height), now.slice(head, head + width)).map(([a, b]) => [a + head, b + head]));
  for (let at = tail; at > 0; at -= 1) pairs.push([old.length - at, now.length - at]);
  return pairs;
}

function middle(old, now) {
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  for (let a = old.length - 1; a >= 0; a -= 1)
    for (let b = now.length - 1; b >= 0; b -= 1) longest[a * width + b] = old[a] === now[b] ? longest[(a + 1) * width + b + 1] + 1 : Math.max(longest[(a + 1) * width + b], longest[a * width + b + 1]);
  const pairs = [];
  for (let [a, b] = [0, 0]; a < old.length && b < now.length; ) {
    if (old[a] === now[b]) pairs.push([a++, b++]);
    else if (longest[(a + 1) * width + b] >= longest[a * width + b + 1]) a += 1;
    else b += 1;
  }
  return pairs;
}
