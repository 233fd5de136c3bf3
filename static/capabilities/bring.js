// Brings a capability in that the assistant did not write: from a file, or one of those that come
// with level3. Both are orders: the same checks, and the same approval, as if the assistant had
// written it.

import { h } from "../core/dom.js";
import { settled } from "../core/orders.js";
import { reasonOf } from "../core/words.js";
import { button } from "../ui/button.js";
import { errorState } from "../ui/states.js";
import { folderOf } from "./figures.js";
import { outcomeLine } from "./outcome.js";
import { purposeNode } from "./purpose.js";
import { capabilities as said } from "./words.js";

/** `{ importButton, note, node, load() }`: the button, what came of the last order, and the list of what comes with level3. */
export function bringing({ session, announce, signal }) {
  const { api, lists } = session;
  const note = h("div", { role: "status" });
  const list = h("ul", { class: "shipped-list" });
  const problem = h("div", {});
  const node = h("section", { class: "shipped", hidden: true, "data-testid": "shipped" }, h("h2", {}, said.shipped), h("p", { class: "none" }, said.shippedHelp), problem, list);
  const file = h("input", { type: "file", multiple: true, accept: ".json,.js,.wat,.base64", hidden: true, "data-testid": "import-file" });
  const importButton = h("span", {}, button(said.import, () => file.click(), { icon: "plus", title: said.importHelp }), file);

  /** Carries an order out and says in `note` what came of it. */
  async function order(name, start) {
    note.replaceChildren(h("p", { class: "order-line" }, said.bringing(name)));
    let outcome;
    try {
      outcome = await settled(api, await start(), signal);
    } catch (error) {
      outcome = { state: "failed", said: reasonOf(error) };
    }
    if (signal.aborted || !outcome) return;
    lists.load("capabilities");
    note.replaceChildren(outcomeLine(outcome));
    announce(note.textContent);
  }

  file.addEventListener("change", async () => {
    const chosen = [...file.files];
    file.value = "";
    if (chosen.length === 0) return;
    const text = (each) => each.text().catch(() => {
      throw new Error("noRead");
    });
    await order(chosen.map(({ name }) => name).join(", "), async () => {
      let folder;
      try {
        folder = folderOf(await Promise.all(chosen.map(async (each) => ({ name: each.name, text: await text(each) }))));
      } catch (error) {
        throw new Error(said.importFaults[error.message] ?? reasonOf(error));
      }
      return api.importCapability(folder);
    });
  });

  async function load() {
    try {
      const { shipped } = await api.shipped();
      if (signal.aborted) return;
      const focus = list.contains(document.activeElement) ? document.activeElement.dataset.name : undefined;
      problem.replaceChildren();
      list.replaceChildren(...shipped.map(row));
      node.hidden = shipped.length === 0;
      if (focus) list.querySelector(`[data-name="${CSS.escape(focus)}"]`)?.focus();
    } catch (error) {
      if (signal.aborted) return;
      node.hidden = false;
      problem.replaceChildren(errorState(said.cannotShip(error.message), load));
    }
  }

  function row({ name, description, grants_in_words: powers, installed }) {
    const way = installed === null || installed === undefined ? said.install : said.installAgain;
    const install = button(way, () => order(name, () => api.install(name)), { "data-name": name, "aria-label": `${way} ${name}` });
    const text = h("div", {}, h("code", {}, name), installed ? h("span", { class: "none" }, ` ${said.isInstalled(installed)}`) : "", purposeNode(description), powers.length > 0 ? h("p", { class: "none" }, powers.join(" ")) : "");
    return h("li", {}, text, install);
  }
  return { importButton, note, node, load };
}
