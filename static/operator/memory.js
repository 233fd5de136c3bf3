// The operator's memory between tasks, to be read and written whole. A version that is not the newest is never written over.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { field } from "../ui/forms.js";
import { operator as said } from "./words.js";

const written = (context) => JSON.stringify(context.document, null, 2);

/** The section: `{ node, load() }`. */
export function memorySection({ api, signal, announce, tell }) {
  let shown;
  const text = h("textarea", { class: "input operator-memory", rows: "8", spellcheck: "false", autocomplete: "off", dir: "ltr", "data-testid": "operator-memory" });
  const { node: labelled, wrong } = field(said.memoryLabel, text, said.memoryHelp);
  const about = h("p", { class: "operator-note" });
  const save = button(said.save, () => write(), { "data-testid": "operator-save" });
  const version = h("p", { class: "operator-note" });
  const theirs = h("pre", { class: "plain", tabindex: "0", dir: "ltr" });
  const newer = h("div", { hidden: true, role: "region", "aria-label": said.memory, "data-testid": "operator-newer" }, version, theirs);
  const node = h("section", {}, h("h2", {}, said.memory), newer, labelled, about, save);

  function put(context) {
    from(context);
    text.value = written(context);
    newer.hidden = true;
    wrong("");
  }

  /** The next change is made from this version. */
  function from(context) {
    shown = context;
    about.textContent = `${said.version(context.version)} · ${said.size(context.bytes, context.most_bytes)}`;
  }

  /** Shows the newer document above the person's draft, which stays. */
  async function overtaken() {
    try {
      const context = await api.operatorContext();
      if (signal.aborted) return;
      from(context);
      version.textContent = said.version(context.version);
      theirs.textContent = written(context);
      newer.hidden = false;
      wrong(said.newer);
    } catch (error) {
      tell(error);
    }
  }

  async function load() {
    const context = await api.operatorContext();
    // A person's draft stays.
    const isEdited = shown && text.value !== written(shown);
    if (!signal.aborted && !isEdited) put(context);
  }

  async function write() {
    let draft;
    try {
      draft = JSON.parse(text.value);
    } catch {
      draft = undefined;
    }
    if (draft === null || typeof draft !== "object" || Array.isArray(draft)) return wrong(said.noJson);
    save.disabled = true;
    try {
      put(await api.setOperatorContext(shown?.version ?? 0, draft));
      announce(said.saved);
    } catch (error) {
      if (error.status === 409) await overtaken();
      else if (error.status === 400) wrong(error.message);
      else tell(error);
    }
    save.disabled = false;
    return undefined;
  }
  return { node, load };
}
