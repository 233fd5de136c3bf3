// The record of a campaign, for a person: its cycles are made again, all of it is taken away as a
// file, and its messages are let go.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { save } from "../ui/save.js";
import { problemLine } from "../ui/section.js";
import { campaigns as said } from "./words.js";

/** The section. */
export function recordSection({ api, id, load, announce }) {
  const { line, say } = problemLine();
  const came = h("p", { class: "campaigns-note", role: "status", "data-testid": "campaigns-record-came" });
  const deed = (text, name, work) =>
    button(
      text,
      async () => {
        say(undefined);
        try {
          came.textContent = await work();
        } catch (error) {
          say(error.message);
        }
      },
      { "data-testid": `campaigns-${name}` },
    );
  const verify = async () => verdictOf(await api.verifyCampaign(id));
  const take = (from) => async () => {
    const answer = await api.exportCampaign(id, from);
    const name = `campaign-${id}-${from}.json`;
    save(name, `${JSON.stringify(answer, null, 2)}\n`, "application/json");
    return said.exported(name, answer.state_sha256);
  };
  const forget = async () => {
    const { told } = await api.forgetChat(id);
    announce(told);
    came.textContent = told;
    await load();
  };
  const letGo = button(said.forget, () => void ask({ title: said.forgetTitle, text: said.forgetText, yes: said.forget, kind: "danger", action: forget }), { kind: "danger", "data-testid": "campaigns-forget" });
  const deeds = h("div", { class: "campaigns-deeds" }, deed(said.verify, "verify", verify), deed(said.exportTables, "export", take("tables")), deed(said.exportEvents, "export-events", take("events")), letGo);
  return h("section", { "data-testid": "campaigns-record" }, h("h2", {}, said.record), h("p", { class: "campaigns-note" }, said.recordHelp), deeds, line, came);
}

/** The outcome of making every cycle again. */
function verdictOf({ requests, broken, turn, differs, clean }) {
  if (clean) return said.clean(requests);
  const first = differs ? [said.differs(turn, differs)] : [];
  return [...first, ...broken].join("\n");
}
