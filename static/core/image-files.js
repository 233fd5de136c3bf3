// Files that become images of a message: what they are is read from their bytes, as the server does
// it. No DOM here.

import { MAX_IMAGES } from "./images.js";
import { words } from "./words.js";

const said = words.images;

/** The largest image, in bytes. */
export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** How the bytes of each kind begin, as Latin-1. */
const BEGINNINGS = { "image/png": /^\x89PNG\r\n\x1a\n/, "image/jpeg": /^\xff\xd8\xff/, "image/webp": /^RIFF[^]{4}WEBP/, "image/gif": /^GIF8[79]a/ };

/** The kind of image that these bytes are, whatever the file is called. */
function kindOf(bytes) {
  const beginning = String.fromCharCode(...bytes.subarray(0, 12));
  return Object.keys(BEGINNINGS).find((kind) => BEGINNINGS[kind].test(beginning));
}

/**
 * Reads files (of a paste, a drop or a button) beside the `have` images there are: `{ images, problems }`, the problems as sentences for a
 * person. An image is `{ media_type, data, size, name }`, its bytes in base64.
 */
export async function readImages(files, have = 0) {
  const images = [];
  const problems = [];
  for (const file of files) {
    const name = file.name || said.unnamed;
    const isTooLarge = file.size > MAX_IMAGE_BYTES;
    const bytes = isTooLarge ? undefined : new Uint8Array(await file.arrayBuffer());
    const kind = isTooLarge ? file.type : kindOf(bytes);
    if (!(kind in BEGINNINGS)) {
      problems.push(file.type in BEGINNINGS ? said.none(name) : said.notTaken(name));
    } else if (isTooLarge) {
      problems.push(said.tooLarge(name, MAX_IMAGE_BYTES / 1024 / 1024));
    } else if (have + images.length >= MAX_IMAGES) {
      problems.push(said.tooMany(MAX_IMAGES));
      break;
    } else {
      images.push({ media_type: kind, data: base64(bytes), size: bytes.length, name: file.name ?? "" });
    }
  }
  return { images, problems };
}

/** Bytes in base64, piece by piece: a call may not have a million arguments. */
export function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
