// The capabilities in the side panel: what each may do, its source, and the switch that turns it off.

import { h, icon, keyed } from "../dom.js";
import { exactBlock, exactNodes, hiddenWarning } from "../exact.js";
import { grantMarks } from "../format.js";
import { actionButton, problemLine } from "./panel-section.js";

const ARROW = "M7.5 5l5 5-5 5";
const CLOSE = "M5 5l10 10M15 5L5 15";

/** `<l3-capability>`: `data` is an entry of the list; `api` as in `api.js`, without it nothing can be changed. */
export class CapabilityEntry extends HTMLElement {
  set data({ name, version, enabled, description, grants, words, versions, whole }) {
    this.setAttribute("role", "listitem");
    this.dataset.capability = name;
    this.dataset.enabled = String(enabled);
    const { line, say } = problemLine();
    const head = [
      h("code", {}, name),
      enabled ? "" : h("span", { class: "off" }, "disabled"),
      h("span", { class: "version", title: versions > 1 ? `${versions} versions are kept` : undefined }, `v${version}`),
    ];
    if (!whole) {
      this.replaceChildren(h("div", { class: "capability-head" }, head));
      return;
    }
    const open = this.querySelector("details")?.open === true;
    const focused = this.contains(document.activeElement) ? document.activeElement.dataset.action : undefined;
    const source = actionButton("View source", "quiet", say, () => this.showSource(name));
    source.dataset.action = "source";
    const toggle = actionButton(enabled ? "Disable" : "Enable", "quiet", say, () => this.api.enable(name, !enabled));
    toggle.dataset.action = "toggle";
    toggle.setAttribute("aria-label", `${enabled ? "Disable" : "Enable"} ${name}`);
    source.setAttribute("aria-label", `View source of ${name}`);
    this.replaceChildren(
      h(
        "details",
        { open },
        h("summary", { class: "capability-head" }, icon(ARROW), head),
        description ? h("p", { class: "capability-said", dir: "auto" }, exactNodes(description)) : "",
        grantsOf(grants, words),
        h("p", { class: "panel-actions" }, source, toggle),
        line,
      ),
    );
    if (focused) this.querySelector(`[data-action=${focused}]`)?.focus();
  }

  async showSource(name) {
    const { version, language, source } = await this.api.capability(name);
    const close = h("button", { type: "button", class: "icon-button" }, icon(CLOSE, "Close"));
    const title = h("h2", {}, h("code", {}, name), ` version ${version}`);
    const block = exactBlock(source, language === "javascript" ? language : "", `The source of ${name}`, true);
    const dialog = h("dialog", {
      class: "source-dialog",
      "data-testid": "source",
      "aria-label": `The source of ${name}`,
    });
    dialog.append(h("header", {}, title, close), hiddenWarning([source]) ?? "", block);
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }
}

function grantsOf(grants, words) {
  if (words.length === 0) return h("p", { class: "none" }, "Reaches nothing outside its sandbox.");
  const marks = grantMarks(grants).map((mark) => h("span", { class: "grant-mark" }, mark));
  return [
    marks.length > 0 ? h("p", { class: "grant-marks" }, marks) : "",
    h(
      "ul",
      { class: "grant-list" },
      words.map((sentence) => h("li", { dir: "auto" }, exactNodes(sentence))),
    ),
  ].filter(Boolean);
}

/** The section: `{ node, show(entries, error) }`. */
export function capabilitySection(api) {
  const list = h("div", { class: "capabilities", role: "list" });
  const none = h("p", { class: "none" }, "None yet. The assistant writes one when it needs it.");
  const node = h("section", { "data-testid": "capabilities" }, h("h2", {}, "Capabilities"), list, none);
  const show = (entries) => {
    const rows = entries.map((entry) => ({
      key: entry.name,
      name: entry.name,
      version: entry.version,
      enabled: entry.enabled,
      description: entry.description,
      versions: entry.versions,
      grants: entry.grants,
      words: entry.grants_in_words ?? [],
      whole: entry.grants_in_words !== undefined,
      told: JSON.stringify(entry),
    }));
    // Lists are new objects each time they are read: what says the same is the same.
    for (const row of rows) {
      const shown = list.keyedNodes?.get(row.key)?.shownRow;
      if (shown?.told === row.told) Object.assign(row, shown);
    }
    keyed(list, rows, () => Object.assign(document.createElement("l3-capability"), { api }));
    none.hidden = rows.length > 0;
  };
  return { node, show };
}

customElements.define("l3-capability", CapabilityEntry);
