// The operator's memory between tasks, to be read and written whole. A version that is not the newest is never written over.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { field } from "../ui/forms.js";
import { operator as said } from "./words.js";

/** The section: `{ node, load() }`. */
export function memorySection({ api, signal, announce, tell }) {
  let shown;
  const text = h("textarea", { class: "input operator-memory", rows: "8", spellcheck: "false", autocomplete: "off", dir: "ltr", "data-testid": "operator-memory" });
  const { node: labelled, wrong } = field(said.memoryLabel, text, said.memoryHelp);
  const about = h("p", { class: "operator-note" });
  const save = button(said.save, () => write(), { "data-testid": "operator-save" });
  const node = h("section", {}, h("h2", {}, said.memory), labelled, about, save);

  function put(context) {
    shown = context;
    text.value = JSON.stringify(context.document, null, 2);
    about.textContent = `${said.version(context.version)} · ${said.size(context.bytes, context.most_bytes)}`;
    wrong("");
  }

  async function load() {
    const isEdited = shown && text.value !== JSON.stringify(shown.document, null, 2);
    const context = await api.operatorContext();
    // A person's draft stays.
    if (!signal.aborted && !isEdited) put(context);
  }

  async function write() {
    let document;
    try {
      document = JSON.parse(text.value);
    } catch {
      document = undefined;
    }
    if (document === null || typeof document !== "object" || Array.isArray(document)) return wrong(said.noJson);
    save.disabled = true;
    try {
      put(await api.setOperatorContext(shown?.version ?? 0, document));
      announce(said.saved);
    } catch (error) {
      if (error.status === 409) {
        put(await api.operatorContext());
        wrong(said.newer);
      } else if (error.status === 400) wrong(error.message);
      else tell(error);
    }
    save.disabled = false;
    return undefined;
  }
  return { node, load };
}
