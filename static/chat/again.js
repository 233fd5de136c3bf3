// A turn once more: branch, retry, edit. Each makes a conversation that goes on from a place of
// this one; what was done stays done.

import { addressOf, base64 } from "../core/images.js";
import { h } from "../core/dom.js";
import { refusal } from "../core/outbox.js";
import { reasonOf, words } from "../core/words.js";
import { ask } from "../ui/dialog.js";

/** Messages that were changed and not sent, by their conversation and place: a dialog may be closed by a press beside it. */
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
      const text = h("textarea", { class: "input edit-text", rows: "6", dir: "auto", "aria-label": words.chat.editLabel, "data-testid": "edit-text" });
      const key = `${shown()} ${editAt}`;
      let isSent = false;
      text.value = changed.get(key) ?? content;
      text.addEventListener("input", () => changed.set(key, text.value));
      const action = async () => {
        const reason = refusal(text.value.trim(), images?.length ?? 0);
        if (reason) throw new Error(reason);
        await sendFrom(editAt, text.value.trim(), images);
        changed.delete(key);
        isSent = true;
      };
      const dialog = ask({ title: words.chat.editTitle, text: words.chat.editText, control: text, yes: words.chat.editSend, action });
      dialog.addEventListener("close", () => {
        if (dialog.returnValue === "cancel") changed.delete(key);
        if (isSent) write();
      });
      text.focus();
    },
  };
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
