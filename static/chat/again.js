// A turn once more: branch, retry, edit. Each makes a conversation that goes on from a place of
// this one; what was done stays done.

import { base64 } from "../core/image-files.js";
import { addressOf } from "../core/images.js";
import { h } from "../core/dom.js";
import { refusal } from "../core/outbox.js";
import { reasonOf, words } from "../core/words.js";
import { iconButton } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { partsOf } from "./file-block.js";
import { withFiles } from "./files.js";

/** Messages that were changed and not sent (`{ text, files }`), by their conversation and place: a dialog may be closed by a press beside it. */
const changed = new Map();

/** The focus goes to the field: what had it stays behind in the conversation that is left. */
const toField = () => dispatchEvent(new CustomEvent("write-message"));

/**
 * The actions that do something again in the conversation that is shown. `go(conversation)` shows another one, and `write()` goes to its field;
 * `said(text)` says what went wrong.
 */
export function createAgain({ session, go, said, write = toField, fetch = (...all) => globalThis.fetch(...all) }) {
  const shown = () => session.store.getState().shown;

  async function branchAt(seq) {
    const { conversation } = await session.api.newConversation({ conversation: shown(), seq: Math.max(0, seq) });
    session.lists.load("conversations");
    return conversation;
  }

  /** A new conversation from before a message, and the message in it. */
  async function sendFrom(seq, content, images) {
    const whole = await Promise.all((images ?? []).map((image) => withBytes(image, fetch)));
    const conversation = await branchAt(seq);
    await session.open(conversation);
    session.send({ content, steer: false, images: whole });
    go(conversation);
    return conversation;
  }

  const told = (doing) => doing.catch((error) => said(reasonOf(error)));

  return {
    branch: ({ branchAt: seq }) => told(branchAt(seq).then(go).then(write)),
    retry: ({ retryAt, said: content, images }) => told(sendFrom(retryAt, content, images).then(write)),
    edit({ content, images, editAt }) {
      const key = `${shown()} ${editAt}`;
      const now = changed.get(key) ?? apart(content);
      const keep = () => changed.set(key, now);
      const text = h("textarea", { class: "input edit-text", rows: "6", dir: "auto", "aria-label": words.chat.editLabel, "data-testid": "edit-text" });
      let isSent = false;
      text.value = now.text;
      text.addEventListener("input", () => ((now.text = text.value), keep()));
      const action = async () => {
        const whole = withFiles(text.value.trim(), now.files);
        const reason = refusal(whole, images?.length ?? 0);
        if (reason) throw new Error(reason);
        await sendFrom(editAt, whole, images);
        changed.delete(key);
        isSent = true;
      };
      const dialog = ask({ title: words.chat.editTitle, text: words.chat.editText, control: h("div", {}, text, chips(now, () => (keep(), text.focus()))), yes: words.chat.editSend, action });
      dialog.addEventListener("close", () => {
        if (dialog.returnValue === "cancel") changed.delete(key);
        if (isSent) write();
      });
      text.focus();
    },
  };
}

/** A message as its words and the files below them; all of it is words if some stand between files. */
function apart(content) {
  const parts = partsOf(content);
  const [first, ...files] = parts[0].name === undefined ? parts : [{ text: "" }, ...parts];
  return files.every(({ name }) => name !== undefined) ? { text: first.text, files } : { text: content, files: [] };
}

/** The files of a message that is changed, each with a button that takes it away and then calls `changed()`. */
function chips(message, changed) {
  const chip = (file) => {
    const { name, text } = file;
    const remove = () => {
      message.files = message.files.filter((each) => each !== file);
      node.remove();
      changed();
    };
    const size = h("span", { class: "file-size" }, words.chat.fileLines(text ? text.split("\n").length : 0));
    const node = h("div", { class: "file-chip", "data-testid": "edit-file" }, h("bdi", {}, name), size, iconButton("close", words.chat.fileRemove(name), remove));
    return node;
  };
  return message.files.map(chip);
}

/** A recorded image with its bytes, to be sent again. */
async function withBytes(image, fetch) {
  if (image.data !== undefined) return image;
  const response = await fetch(addressOf(image)).catch(() => {
    throw new Error(words.failed.unreachable);
  });
  if (!response.ok) throw new Error(words.chat.imageGone);
  return { media_type: image.media_type, size: image.size, data: base64(new Uint8Array(await response.arrayBuffer())) };
}
