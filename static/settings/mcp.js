// Servers of other people's tools: which there are, what they list, and how one is added or
// removed.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { field, input, segmented } from "../ui/forms.js";
import { errorState, waitingFor } from "../ui/states.js";
import { savingForm } from "./saving.js";
import { said } from "./words.js";

/** Lines of `NAME=value` or `Name: value` as an object; throws the line that is none. Pure. */
export function pairsOf(text, sign) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(sign);
      if (at < 1) throw new Error(said.mcpLine(line));
      return [line.slice(0, at).trim(), line.slice(at + sign.length).trim()];
    }),
  );
}

/** The part of it. */
export function mcpSection({ api, gone }) {
  const list = h("div", { class: "servers", "data-testid": "mcp-servers" }, waitingFor(load, 2));

  async function load() {
    try {
      const { servers } = await api.mcpServers();
      if (gone.aborted) return;
      const rows = servers.map((server) => serverNode(api, server, load));
      list.replaceChildren(...(rows.length > 0 ? rows : [h("p", { class: "none" }, said.mcpNone)]));
    } catch (error) {
      if (!gone.aborted) list.replaceChildren(errorState(error.message, load));
    }
  }

  load();
  return { nodes: [h("p", { class: "none" }, said.mcpHelp), list, h("details", { class: "add" }, h("summary", {}, said.mcpAdd), addForm(api, load))] };
}

function serverNode(api, { name, transport, tools }, load) {
  const where = transport.url ?? transport.command.join(" ");
  const result = h("div", { class: "server-tools", role: "status" });
  const show = async (asked, told) => {
    try {
      const answer = await asked();
      const left = Object.entries(answer.left_out ?? {}).map(([tool, why]) => h("p", { class: "none" }, said.mcpLeftOut(tool, why)));
      const rows = answer.tools.map(({ tool, description }) => h("li", { dir: "auto" }, h("code", {}, tool), description ? ` ${description}` : ""));
      result.replaceChildren(told ? h("p", {}, told(answer)) : "", h("ul", { class: "tool-names" }, rows), ...left);
    } catch (error) {
      result.replaceChildren(h("p", { class: "problem" }, error.message));
    }
  };
  const again = (answer) => said.mcpListed(answer.tools.length, answer.changed ?? []);
  const remove = () =>
    ask({ title: said.mcpRemove(name), text: said.mcpRemoveText, yes: said.remove, kind: "danger", action: () => api.removeMcp(name).then(load) });
  return h(
    "div",
    { class: "server" },
    h("p", {}, h("strong", {}, name), " ", h("span", { class: "none" }, said.mcpTools(tools))),
    h("p", { class: "none where", dir: "ltr" }, where),
    h(
      "p",
      { class: "row-actions" },
      button(said.mcpShow, () => show(() => api.mcpTools(name)), { kind: "quiet" }),
      button(said.mcpList, () => show(() => api.listMcp(name), again), { kind: "quiet" }),
      button(said.remove, remove, { kind: "quiet", "aria-label": said.removeIt(name) }),
    ),
    result,
  );
}

function addForm(api, load) {
  const name = input({ required: true, pattern: "[a-z][a-z0-9_]{0,23}", spellcheck: "false", "data-testid": "mcp-name" });
  const url = input({ type: "url", placeholder: "https://", spellcheck: "false", "data-testid": "mcp-url" });
  const headers = lines();
  const command = lines();
  const env = lines();
  const fields = {
    name: field(said.mcpName, name, said.mcpNameHelp),
    url: field(said.mcpUrl, url),
    headers: field(said.mcpHeaders, headers, said.mcpHeadersHelp),
    command: field(said.mcpCommand, command, said.mcpCommandHelp),
    env: field(said.mcpEnv, env, said.mcpEnvHelp),
  };
  const atUrl = h("div", { class: "way" }, fields.url.node, fields.headers.node);
  const asCommand = h("div", { class: "way", hidden: true }, fields.command.node, fields.env.node);
  let way = "url";
  const choose = (chosen) => {
    way = chosen;
    atUrl.hidden = way !== "url";
    asCommand.hidden = way !== "command";
    // A field that is not shown is not checked either.
    url.disabled = way !== "url";
  };
  const transport = () =>
    way === "url"
      ? { url: url.value.trim(), headers: pairsOf(headers.value, ":") }
      : { command: command.value.split("\n").map((line) => line.trim()).filter(Boolean), env: pairsOf(env.value, "=") };
  const save = async () => {
    const { tools } = await api.addMcp(name.value, transport());
    const told = said.mcpAdded(name.value, tools.length);
    for (const each of [name, url, headers, command, env]) each.value = "";
    load();
    return `${told} ${said.nextCall}`;
  };
  const pick = segmented(said.mcpWay, Object.entries(said.mcpWays), way, choose);
  const body = [fields.name.node, pick, atUrl, asCommand];
  return savingForm({ label: said.mcpAdd, testid: "mcp-form", holds: said.nextCall, body, save, fields, text: said.mcpAdd });
}

const lines = () => h("textarea", { class: "input", rows: "3", spellcheck: "false", autocomplete: "off", dir: "ltr" });
