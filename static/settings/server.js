// The server: how it works, what the environment alone says, its data, its version and the licences
// of what the page carries.

import { h } from "../core/dom.js";
import { mainState } from "../core/workspace.js";
import { button } from "../ui/button.js";
import { saidNodes } from "../ui/said.js";
import { errorState, waitingFor } from "../ui/states.js";
import { LICENCES } from "./licences.js";
import { MODEL_SETTINGS } from "./model.js";
import { siteForm } from "./site-form.js";
import { said } from "./words.js";

const DEFAULT_FOLDER = "./data";

/** The part of it. */
export function serverSection({ session, api, site }) {
  const folder = h("dd", { dir: "auto", "data-testid": "data-folder" });
  const others = h("div", {}, waitingFor(() => site.load(), 2));
  const running = h("div", {}, waitingFor(() => site.load(), 5));
  let form;
  site.told(
    (settings) => {
      if (!form) running.replaceChildren((form = siteForm(site, namesOf(settings), said.running, "server-form").node));
      const { value, origin } = settings.find(({ name }) => name === "LEVEL3_DATA_DIR") ?? {};
      folder.textContent = `${value ?? DEFAULT_FOLDER} (${said.elsewhere("LEVEL3_DATA_DIR")}; ${said.origins[origin] ?? said.origins.default})`;
      others.replaceChildren(h("dl", { class: "facts" }, settings.filter(isElsewhere).flatMap(otherNodes)));
    },
    (error) => {
      others.replaceChildren(errorState(error, site.load));
      if (!form) running.replaceChildren(errorState(error, site.load));
    },
  );
  const { hello } = mainState(session.store.getState());
  return {
    nodes: [
      h("h3", {}, said.running),
      running,
      h("h3", {}, said.data),
      h("dl", { class: "facts" }, h("dt", {}, said.folder), folder),
      backup(api),
      records(api),
      h("details", { class: "add" }, h("summary", {}, said.others), h("p", { class: "none" }, said.othersHelp), others, h("p", { class: "none" }, saidNodes(said.byCommand))),
      h("h3", {}, said.about),
      h("dl", { class: "facts" }, h("dt", {}, said.version), h("dd", {}, hello?.version ?? "")),
      licences(),
    ],
  };
}

/** The names of the settings of this form: all that the server lets the page set but those of the model, in the order in which they are told of. */
function namesOf(settings) {
  const known = Object.keys(said.names);
  const names = settings.filter(({ name, on_page: may }) => may && !MODEL_SETTINGS.includes(name)).map(({ name }) => name);
  return names.toSorted((a, b) => known.indexOf(a) - known.indexOf(b));
}

/** One that no form here has. */
const isElsewhere = ({ on_page: may }) => !may;

function otherNodes({ name, value, origin }) {
  const shown = origin === "default" ? said.noDefault : (value ?? said.hidden);
  return [h("dt", {}, h("code", {}, name)), h("dd", { dir: "auto" }, shown, origin === "default" ? "" : h("span", { class: "none" }, ` ${said.origins[origin]}`))];
}

function backup(api) {
  const result = h("div", { role: "status", "data-testid": "backup-result" });
  const make = async () => {
    result.replaceChildren();
    try {
      const { file, said: told } = await api.backup();
      result.replaceChildren(h("p", { class: "where", dir: "auto" }, said.backupMade(file)), h("p", { class: "none" }, told));
    } catch (error) {
      result.replaceChildren(h("p", { class: "problem" }, error.message));
    }
  };
  return h("div", { class: "backup" }, h("p", { class: "none" }, said.backupHelp), button(said.backup, make, { "data-testid": "backup" }), result);
}

/** The check that all is kept as it was recorded. */
function records(api) {
  const result = h("div", { role: "status", "data-testid": "records-result" });
  const check = async () => {
    result.replaceChildren(h("p", { class: "none" }, said.checking));
    try {
      const { clean, events, broken, differences, more } = await api.checkRecords();
      const wrong = [
        ...broken.map(({ conversation, sequence, what }) => said.brokenEvent(conversation, sequence, what)),
        ...differences.map(({ table, row, column }) => said.differingRow(table, row, column)),
        ...(more ? [said.moreDifferences] : []),
      ];
      const list = wrong.length > 0 ? h("ul", {}, wrong.map((each) => h("li", { class: "problem", dir: "auto" }, each))) : "";
      result.replaceChildren(h("p", {}, clean ? said.recordsClean(events) : said.recordsWrong(events)), list);
    } catch (error) {
      result.replaceChildren(h("p", { class: "problem" }, error.message));
    }
  };
  return h("div", { class: "backup" }, h("p", { class: "none" }, said.checkHelp), button(said.check, check, { "data-testid": "records" }), result);
}

function licences() {
  const rows = LICENCES.map(({ name, licence, file }) => {
    const link = h("a", { href: new URL(`../vendor/${file}`, import.meta.url).href, target: "_blank", rel: "noreferrer" }, licence);
    return h("li", {}, name, ", ", link);
  });
  return h("details", { class: "add" }, h("summary", {}, said.licences), h("p", { class: "none" }, said.licencesHelp), h("ul", {}, rows));
}
