// Actions on a conversation: rename, pin, put away, save as a file, delete.

import { h } from "../core/dom.js";
import { words } from "../core/words.js";
import { ask } from "../ui/dialog.js";
import { field, input } from "../ui/forms.js";
import { openMenu } from "../ui/menu.js";
import { toast } from "../ui/toast.js";

const said = words.conversations;

const pathOf = (id) => `/api/conversations/${encodeURIComponent(id)}`;
/** Changes `title`, `pinned` or `archived`. */
const changed = (api, id, changes) => api.ask("PATCH", pathOf(id), changes);
/** Takes it from the list; without `confirmed` the server only says what that would do, as a refusal. */
const removed = (api, id, confirmed) => api.ask("DELETE", `${pathOf(id)}${confirmed ? "?confirmed=true" : ""}`);

/** Opens the menu of a conversation at `anchor`. `entry` has `context`, and `reload()` for after a change. */
export function conversationMenu(anchor, row, { context, reload }) {
  const { id, title, pinned, archived, main } = row;
  const { api } = context.session;
  const name = title || words.dock.conversation(id);
  const change = async (changes) => {
    try {
      await changed(api, id, changes);
    } catch (error) {
      toast(error.message);
    }
    reload();
  };
  const putAway = async () => {
    await change({ archived: true });
    toast(said.archivedToast, { undo: said.undo, action: () => change({ archived: false }) });
  };
  const entries = [
    { text: said.rename, action: () => rename(api, row, reload) },
    { text: pinned ? said.unpin : said.pin, action: () => change({ pinned: !pinned }) },
    { text: archived ? said.unarchive : said.archive, action: archived ? () => change({ archived: false }) : putAway },
    { text: said.saveMarkdown, action: () => download(id, "md") },
    { text: said.saveJson, action: () => download(id, "json") },
  ];
  if (!main) entries.push({ text: said.remove, kind: "danger", action: () => remove(context, id, name, reload) });
  openMenu(anchor, entries);
}

function rename(api, { id, title }, reload) {
  const text = input({ value: title, maxlength: "200" });
  ask({
    title: said.renameTitle,
    control: field(said.title, text, said.titleHelp).node,
    yes: words.say.save,
    action: async () => {
      await changed(api, id, { title: text.value.trim() });
      reload();
    },
  });
  text.select();
}

/** Has the browser save all of a conversation; the server names the file. */
function download(id, format) {
  const link = h("a", { href: `${pathOf(id)}/export?format=${format}`, download: "", hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
}

/** The server says what deleting would do, before a person decides. */
async function remove(context, id, name, reload) {
  const { api, store } = context.session;
  let told = "";
  try {
    const { said: done } = await removed(api, id, false);
    told = done ?? "";
  } catch (error) {
    told = error.message;
  }
  ask({
    title: said.removeTitle(name),
    text: told,
    yes: said.remove,
    kind: "danger",
    action: async () => {
      await removed(api, id, true);
      if (store.getState().shown === id) context.go("chat");
      reload();
    },
  });
}
