// Images on their way into a message: which are taken, and how they are carried. No DOM here.

import { words } from "./words.js";

const said = words.images;

/** The kinds the server takes. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];
/** The most images of one message. */
export const MAX_IMAGES = 4;
/** The largest image, in bytes. */
export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/**
 * Reads files (of a paste, a drop or a button) beside the `have` images there are: `{ images, problems }`, the problems as sentences for a
 * person. An image is `{ media_type, data, size, name }`, its bytes in base64.
 */
export async function readImages(files, have = 0) {
  const images = [];
  const problems = [];
  for (const file of files) {
    const name = file.name || said.unnamed;
    if (!IMAGE_TYPES.includes(file.type)) {
      problems.push(said.notTaken(name));
    } else if (file.size > MAX_IMAGE_BYTES) {
      problems.push(said.tooLarge(name, MAX_IMAGE_BYTES / 1024 / 1024));
    } else if (have + images.length >= MAX_IMAGES) {
      problems.push(said.tooMany(MAX_IMAGES));
      break;
    } else {
      const bytes = new Uint8Array(await file.arrayBuffer());
      images.push({ media_type: file.type, data: base64(bytes), size: bytes.length, name: file.name ?? "" });
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

/** The address of an image: at the server once it is recorded, in itself before. */
export function addressOf(image) {
  return image.data === undefined
    ? `/api/attachments/${encodeURIComponent(image.sha256)}`
    : `data:${image.media_type};base64,${image.data}`;
}

/** The warning before images are sent, if the model in use is not known to see them; `undefined` if there is nothing to say. */
export function blindness(hello) {
  if (hello?.images !== false) return undefined;
  const { kind, name } = hello.model;
  return said.blind(kind === "tour" ? said.tour : name || said.model);
}

/** An image in words. */
export function wordsOf(image, number) {
  return said.one(number, image.media_type.replace("image/", ""), Math.ceil(image.size / 1024));
}

/** True for what looks like an image kept earlier. */
export function isImage(image) {
  return (
    IMAGE_TYPES.includes(image?.media_type) && typeof image.data === "string" && /^[A-Za-z0-9+/=]*$/.test(image.data)
  );
}
