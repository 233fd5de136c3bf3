// Text files on their way into a message: read, and put into it as marked blocks. A block is plain
// text, which the model reads.

export { readImages } from "../core/image-files.js";
import { words } from "../core/words.js";

/** The most that the text files of one message may have in all. Words and what stands around files find room beside them. */
export const MAX_FILES_BYTES = 1024 * 1024;

const ENDINGS = /\.(csv|tsv|json|jsonl|ndjson|txt|md|log|sql|xml|ya?ml|toml|ini|js|ts|py|rs|sh|html|css)$/i;

/** True for a file that is read as text. */
export function isTextFile({ name = "", type = "" }) {
  return type.startsWith("text/") || type === "application/json" || ENDINGS.test(name);
}

/** Reads text files: `{ files: [{ name, text }], problems }`, the problems as sentences. `room` is how many bytes still go into the message. */
export async function readTextFiles(list, room = MAX_FILES_BYTES) {
  const files = [];
  const problems = [];
  for (const file of list) {
    const name = safeName(file.name);
    if (file.size > room) {
      problems.push(words.chat.fileTooLarge(name, MAX_FILES_BYTES / 1024));
      continue;
    }
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
      if (text.includes("\0")) throw new TypeError("it has zero characters");
      // The end of the last line belongs to its block: nobody counts one more line before the
      // message is sent than after.
      files.push({ name, text: text.replace(/\r\n?/g, "\n").replace(/\n$/, "") });
      room -= file.size;
    } catch {
      problems.push(words.chat.fileNotText(name));
    }
  }
  return { files, problems };
}

/** A name that stands on one line and ends no block. */
function safeName(name) {
  return String(name || "file.txt").replace(/[\p{C}\x60"\s]+/gu, " ").trim().slice(0, 100) || "file.txt";
}

/** The message with its files below it, each between fences that the text itself has not. */
export function withFiles(content, files) {
  const blocks = files.map(({ name, text }) => {
    let longest = 2;
    for (const [fence] of text.matchAll(/^\x60{3,}/gm)) longest = Math.max(longest, fence.length);
    const fence = "`".repeat(longest + 1);
    return `${fence}file "${name}"\n${text}\n${fence}`;
  });
  return [content, ...blocks].filter((part) => part !== "").join("\n\n");
}
