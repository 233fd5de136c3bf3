// QR codes (ISO/IEC 18004): a text in bytes, with the lowest level of correction, which a screen
// needs least. Pure; nothing here draws.

/** By version, from 1: bytes of correction a block, and blocks. */
const CORRECTION = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30];
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25];
/** The level “low”, as the format has it. */
const LOW = 1;
const MASKS = [
  (x, y) => (x + y) % 2 === 0,
  (x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** The rows of the code of `text`, dark modules as true; undefined if it is too long for one. */
export function qrRows(text) {
  const bytes = new TextEncoder().encode(text);
  const version = CORRECTION.findIndex((_, index) => 4 + lengthBits(index + 1) + 8 * bytes.length <= 8 * dataBytes(index + 1)) + 1;
  if (version === 0) return undefined;
  const words = interleaved(version, filled(version, bytes));
  const codes = MASKS.map((mask, number) => drawn(version, words, mask, number));
  return codes.map((rows) => ({ rows, penalty: penalty(rows) })).reduce((best, each) => (each.penalty < best.penalty ? each : best)).rows;
}

const lengthBits = (version) => (version < 10 ? 8 : 16);

/** All bytes that a version holds: what the patterns leave free. */
function rawBytes(version) {
  let bits = (16 * version + 128) * version + 64;
  if (version >= 2) {
    const count = Math.floor(version / 7) + 2;
    bits -= (25 * count - 10) * count - 55;
    if (version >= 7) bits -= 36;
  }
  return Math.floor(bits / 8);
}

const dataBytes = (version) => rawBytes(version) - CORRECTION[version - 1] * BLOCKS[version - 1];

/** The text with its head, its end and what fills the rest. */
function filled(version, bytes) {
  const size = dataBytes(version);
  const bits = [];
  const put = (value, count) => {
    for (let at = count - 1; at >= 0; at -= 1) bits.push((value >>> at) & 1);
  };
  put(4, 4);
  put(bytes.length, lengthBits(version));
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, 8 * size - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  const words = Array.from({ length: bits.length / 8 }, (_, at) => Number.parseInt(bits.slice(8 * at, 8 * at + 8).join(""), 2));
  for (let fill = 0xec; words.length < size; fill ^= 0xec ^ 0x11) words.push(fill);
  return words;
}

/** The product in the field of 256 elements of Reed and Solomon. */
function times(a, b) {
  let product = 0;
  for (let at = 7; at >= 0; at -= 1) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((b >>> at) & 1) * a;
  }
  return product;
}

/** The coefficients of the generator of `degree`, without the first. */
function generator(degree) {
  const result = [...new Array(degree - 1).fill(0), 1];
  let root = 1;
  for (let round = 0; round < degree; round += 1) {
    for (let at = 0; at < degree; at += 1) result[at] = times(result[at], root) ^ (result[at + 1] ?? 0);
    root = times(root, 2);
  }
  return result;
}

function remainder(words, divisor) {
  const result = new Array(divisor.length).fill(0);
  for (const word of words) {
    const factor = word ^ result.shift();
    result.push(0);
    divisor.forEach((coefficient, at) => (result[at] ^= times(coefficient, factor)));
  }
  return result;
}

/** The words in blocks with their correction, one of each block in turn. */
function interleaved(version, words) {
  const [blocks, correction] = [BLOCKS[version - 1], CORRECTION[version - 1]];
  const long = words.length % blocks;
  const short = Math.floor(words.length / blocks);
  const divisor = generator(correction);
  let from = 0;
  const all = Array.from({ length: blocks }, (_, block) => {
    const data = words.slice(from, (from += short + (block < blocks - long ? 0 : 1)));
    return { data, correction: remainder(data, divisor) };
  });
  const turns = (part, length) => Array.from({ length }, (_, at) => all.map((block) => block[part][at]).filter((word) => word !== undefined)).flat();
  return [...turns("data", short + 1), ...turns("correction", correction)];
}

/** The code with one of the masks. */
function drawn(version, words, mask, number) {
  const size = 17 + 4 * version;
  const rows = Array.from({ length: size }, () => new Array(size).fill(false));
  const taken = rows.map((row) => [...row]);
  const set = (x, y, dark) => {
    if (rows[y]?.[x] === undefined) return;
    rows[y][x] = dark;
    taken[y][x] = true;
  };
  patterns(version, size, set);
  formats(version, size, number, set);
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    // The column of the timing is left out.
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) {
      const y = ((right + 1) & 2) === 0 ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (taken[y][x]) continue;
        const dark = ((words[bit >>> 3] ?? 0) >>> (7 - (bit & 7))) & 1;
        rows[y][x] = (dark === 1) !== mask(x, y);
        bit += 1;
      }
    }
  }
  return rows;
}

/** Timing, the three corners, and the small squares between. */
function patterns(version, size, set) {
  for (let at = 0; at < size; at += 1) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  const square = (x, y, reach, isDark) => {
    for (let dy = -reach; dy <= reach; dy += 1) for (let dx = -reach; dx <= reach; dx += 1) set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, (ring) => ring !== 2 && ring !== 4);
  const places = alignment(version, size);
  const last = size - 7;
  // Three of them would lie on the corners.
  const isCorner = (x, y) => (x === 6 && y === 6) || (x === 6 && y === last) || (x === last && y === 6);
  for (const x of places) for (const y of places) if (!isCorner(x, y)) square(x, y, 2, (ring) => ring !== 1);
}

function alignment(version, size) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.floor((8 * version + 3 * count + 5) / (4 * count - 4)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, at) => size - 7 - step * (count - 2 - at))];
}

/** The level, the mask and, of large codes, the version, each twice. */
function formats(version, size, mask, set) {
  const format = ((LOW << 3) | mask) << 10;
  const bits = (format | over(format, 0x537, 10)) ^ 0x5412;
  const bit = (at) => ((bits >>> at) & 1) === 1;
  for (let at = 0; at < 15; at += 1) {
    const [x, y] = at < 6 ? [8, at] : at < 8 ? [8, at + 1] : at === 8 ? [7, 8] : [14 - at, 8];
    set(x, y, bit(at));
    if (at < 8) set(size - 1 - at, 8, bit(at));
    else set(8, size - 15 + at, bit(at));
  }
  set(8, size - 8, true);
  if (version < 7) return;
  const whole = (version << 12) | over(version << 12, 0x1f25, 12);
  for (let at = 0; at < 18; at += 1) {
    const [near, far] = [Math.floor(at / 3), size - 11 + (at % 3)];
    const dark = ((whole >>> at) & 1) === 1;
    set(far, near, dark);
    set(near, far, dark);
  }
}

/** The remainder of a polynomial of bits over another of `degree`. */
function over(value, divisor, degree) {
  let rest = value;
  for (let at = 20; at >= degree; at -= 1) if ((rest >>> at) & 1) rest ^= divisor << (at - degree);
  return rest;
}

/** How hard a code is to read: long runs, squares, what looks like a corner, and too much of one colour. */
function penalty(rows) {
  const size = rows.length;
  const lines = [...rows, ...rows.map((_, x) => rows.map((row) => row[x]))];
  let sum = 0;
  for (const line of lines) {
    const text = line.map(Number).join("");
    for (const [run] of text.matchAll(/0{5,}|1{5,}/g)) sum += run.length - 2;
    const framed = `0000${text}0000`;
    for (const corner of ["10111010000", "00001011101"]) for (let at = framed.indexOf(corner); at >= 0; at = framed.indexOf(corner, at + 1)) sum += 40;
  }
  for (let y = 1; y < size; y += 1) for (let x = 1; x < size; x += 1) if (rows[y][x] === rows[y - 1][x] && rows[y][x] === rows[y][x - 1] && rows[y][x] === rows[y - 1][x - 1]) sum += 3;
  const dark = rows.flat().filter(Boolean).length;
  return sum + 10 * Math.max(0, Math.ceil(Math.abs(dark * 20 - size * size * 10) / (size * size)) - 1);
}
