// The law of a profile: how much is done without a person, and what holds for single tools.

import { h } from "../core/dom.js";
import { field, input, select, toggle } from "../ui/forms.js";
import { errorState, waitingFor } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { profilePart } from "./profiles.js";
import { savingForm } from "./saving.js";
import { said } from "./words.js";

const MODES = ["smart", "auto", "ask", "read_only"];
const RULES = ["none", "always", "ask", "never"];
const FIRST_TOOLS = ["execute_sql", "write_capability", "manage_tasks", "restart"];

/** The part of it. */
export function policySection({ api, gone, profiles }) {
  let known = toolNames(api);
  const tools = (anew) => (anew ? (known = toolNames(api)) : known);
  return profilePart({ api, gone, profiles, make: (policy) => [modeForm(api, policy), ...ruleNodes(api, policy, tools, gone)] });
}

function modeForm(api, { profile, mode, governor, models }) {
  const radios = MODES.map((each) => {
    const box = h("input", { type: "radio", name: `mode-${profile}`, value: each, checked: each === mode, "data-testid": `mode-${each}` });
    return h("label", { class: "choice" }, box, h("span", {}, h("span", {}, said.modes[each]), h("span", { class: "help" }, said.modeHelp[each])));
  });
  const group = h("fieldset", { class: "choices" }, h("legend", {}, said.mode), radios);
  let second = governor;
  const own = input({ value: models.join(", "), spellcheck: "false" });
  const save = () => {
    const chosen = radios.map((each) => each.querySelector("input")).find(({ checked }) => checked).value;
    const named = own.value.split(",").map((name) => name.trim()).filter(Boolean);
    return api.changePolicy(profile, { mode: chosen, governor: second, models: named }).then(() => undefined);
  };
  const look = toggle(said.governor, governor, (on) => (second = on), said.governorHelp);
  const body = [group, look, field(said.ownModels, own, said.ownModelsHelp).node];
  return savingForm({ label: said.mode, testid: "policy-form", holds: said.nextCall, body, save });
}

/** Each rule is saved as it is chosen. `tools(anew)` gives what there is a rule for, asked for once more if a person wants that. */
function ruleNodes(api, { profile, rules }, tools, gone) {
  const list = h("div", { class: "rules", "data-testid": "rules" });
  const put = (names, problem) => {
    const all = [...new Set([...names, ...Object.keys(rules)])];
    list.replaceChildren(...all.map((tool) => ruleRow(api, profile, tool, rules[tool])), problem ? errorState(problem, () => load(true)) : "");
  };
  const load = (anew) => {
    list.replaceChildren(waitingFor(() => load(true), 2));
    tools(anew).then(({ names, problem }) => gone.aborted || put(names, problem));
  };
  load(false);
  return [h("h3", {}, said.rules), h("p", { class: "none" }, `${said.rulesHelp} ${said.nextCall}`), list];
}

function ruleRow(api, profile, tool, rule = "none") {
  let set = rule;
  const options = RULES.map((each) => [each, said.ruleNames[each]]);
  const choice = select(options, rule, async (wanted) => {
    try {
      await api.setRule(profile, tool, wanted === "none" ? null : wanted);
      set = wanted;
      toast(said.saved(said.nextCall));
    } catch (error) {
      // The rule that holds is shown again.
      choice.value = set;
      toast(error.message);
    }
  });
  choice.setAttribute("aria-label", said.rule(tool));
  return h("div", { class: "rule", "data-tool": tool }, h("code", { dir: "auto" }, tool), choice);
}

/** Every tool there is, and why some could not be asked for. */
async function toolNames(api) {
  try {
    const [capabilities, { servers }] = await Promise.all([api.list("capabilities"), api.mcpServers()]);
    const external = await Promise.all(servers.map(({ name }) => api.mcpTools(name)));
    return { names: [...FIRST_TOOLS, ...capabilities.map(({ name }) => name), ...external.flatMap(({ tools }) => tools.map(({ tool }) => tool))] };
  } catch (error) {
    return { names: FIRST_TOOLS, problem: error.message };
  }
}
