// The form by which a person keeps a version of an artifact: type, key and content, written here or
// read from a file.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { field, input, select } from "../ui/forms.js";
import { orderForm } from "./part.js";
import { campaigns as said } from "./words.js";

/** The types that a person may write; a picture is kept by the step that made it. */
const TYPES = ["message", "context", "environment", "lead_scoring_config", "heuristic", "search_query", "analysis", "js_script", "python_script", "file"];
/** The beginning of a content that has a form. */
const BEGUN = {
  environment: { secrets: [], settings: {}, hosts: [], capabilities: [] },
  lead_scoring_config: { base: 0, rules: [{ attribute: "title", contains: "CTO", weight: 10 }], min: 0, max: 100 },
};
const begun = (type) => (BEGUN[type] ? JSON.stringify(BEGUN[type], null, 2) : "");

/** The form: `{ node, fill(artifact) }`, which begins with what an artifact is now. */
export function keepForm({ api, id, load, announce }) {
  let type = TYPES[0];
  const types = select(TYPES.map((each) => [each, said.types[each]]), type, choose);
  types.dataset.testid = "campaigns-keep-type";
  const key = input({ maxlength: "64", dir: "ltr", spellcheck: "false", "data-testid": "campaigns-keep-key" });
  const content = h("textarea", { class: "input campaigns-tasks", rows: "8", dir: "auto", spellcheck: "false", "data-testid": "campaigns-keep-content" });
  const file = h("input", { type: "file", hidden: true, "data-testid": "campaigns-keep-file" });
  const from = button(said.fromFile, () => file.click(), { kind: "quiet" });

  /** Another type begins with its own form, unless something was written. */
  function choose(wanted) {
    if (content.value.trim() === begun(type).trim()) content.value = begun(wanted);
    type = wanted;
  }
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    file.value = "";
    if (chosen) content.value = await chosen.text();
  });
  async function work() {
    const empty = [key, content].find(({ value }) => value.trim() === "");
    if (empty) return empty.focus();
    announce((await api.keepArtifact(id, { type, key: key.value.trim(), content: content.value })).told);
    key.value = "";
    content.value = begun(type);
    await load();
    return undefined;
  }
  const controls = [h("div", { class: "campaigns-row" }, field(said.type, types).node, field(said.key, key, said.keyHelp).node), field(said.contentLabel, content, said.keepHelp).node, from, file];
  const { node, open } = orderForm({ id: "campaigns-keep", title: said.keepTitle, controls, yes: said.keep, work });
  function fill(artifact) {
    ({ type } = artifact);
    types.value = type;
    key.value = artifact.key;
    content.value = artifact.content;
    open(content);
  }
  return { node, fill };
}
