// Images of a message: which there may be, and how they are carried. No DOM here.

import { words } from "./words.js";

const said = words.images;

/** The kinds the server takes. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif"];
/** The most images of one message. */
export const MAX_IMAGES = 4;
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
