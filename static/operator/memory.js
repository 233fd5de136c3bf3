// The operator's memory between tasks, to be read and written whole. A version that is not the
// newest is never written over.

import { h } from "../core/dom.js";
import { isLost } from "../core/digits.js";
import { draftOf } from "../core/drafts.js";
import { isPlain, readJson } from "../core/json.js";
import { button } from "../ui/button.js";
import { field } from "../ui/forms.js";
import { operator as said } from "./words.js";

/** How many fields a JSON text writes, and how many its value has: fewer, if one stands twice. */
const membersWritten = (text) => text.replace(/"(?:\\.|[^"\\])*"/g, "").split(":").length - 1;
const members = (value) => (isPlain(value) ? 0 : Object.values(value).reduce((sum, each) => sum + members(each), Array.isArray(value) ? 0 : Object.keys(value).length));

/** The numbers in a value of `readJson` that a double writes otherwise. */
const numbers = (value) => (isPlain(value) ? [value].filter((each) => each !== null && typeof each === "object") : Object.values(value).flatMap(numbers));
const written = (context) => JSON.stringify(context.document, null, 2);

/** The section: `{ node, load() }`. A person's changes are kept in `storage` until they are saved. */
export function memorySection({ api, storage, signal, announce, tell }) {
  let shown;
  const text = h("textarea", { class: "input operator-memory", rows: "8", spellcheck: "false", autocomplete: "off", dir: "ltr", "data-testid": "operator-memory" });
  const { node: labelled, wrong } = field(said.memoryLabel, text, said.memoryHelp);
  const about = h("p", { class: "operator-note" });
  const save = button(said.save, () => write(), { "data-testid": "operator-save" });
  const version = h("p", { class: "operator-note" });
  const theirs = h("pre", { class: "plain", tabindex: "0", dir: "ltr" });
  const newer = h("div", { hidden: true, role: "region", "aria-label": said.memory, "data-testid": "operator-newer" }, version, theirs);
  const node = h("section", {}, h("h2", {}, said.memory), newer, labelled, about, save);
  const draft = draftOf(storage, "operator");
  const isEdited = () => shown !== undefined && text.value !== written(shown);
  text.addEventListener("input", () => (isEdited() ? draft.keep(text.value, String(shown.version)) : draft.keep()));

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
      if (!signal.aborted) showNewer(context);
    } catch (error) {
      tell(error);
    }
  }

  function showNewer(context) {
    from(context);
    version.textContent = said.version(context.version);
    theirs.textContent = written(context);
    newer.hidden = false;
    wrong(said.newer);
  }

  /** Shows the document, or the draft that a person left here, with a version that overtook it meanwhile above. */
  function begin(context) {
    const [begun, version] = draft.texts();
    put(context);
    if (begun === undefined) return;
    text.value = begun;
    if (version !== String(context.version)) showNewer(context);
  }

  async function load() {
    const context = await api.operatorContext();
    if (signal.aborted) return;
    if (!shown) begin(context);
    // A person's draft stays.
    else if (!isEdited()) put(context);
  }

  async function write() {
    let changed;
    try {
      changed = readJson(text.value);
    } catch {
      changed = undefined;
    }
    if (isPlain(changed) || Array.isArray(changed)) return wrong(said.noJson);
    if (membersWritten(text.value) > members(changed)) return wrong(said.twice);
    const lost = numbers(changed).find(isLost);
    if (lost) return wrong(said.lost(String(lost)));
    save.disabled = true;
    try {
      put(await api.setOperatorContext(shown?.version ?? 0, changed));
      draft.sent();
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
