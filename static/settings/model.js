// The model: which one answers, which there are, whether they work, which is chosen, and what they
// cost.

import { h } from "../core/dom.js";
import { decimal } from "../core/numbers.js";
import { locale } from "../core/words.js";
import { mainState } from "../core/workspace.js";
import { button } from "../ui/button.js";
import { saidNodes } from "../ui/said.js";
import { errorState, waitingFor } from "../ui/states.js";
import { rateNodes } from "./rates.js";
import { siteForm } from "./site-form.js";
import { said } from "./words.js";

/** The settings that this part has a form for. */
export const MODEL_SETTINGS = ["LLM_PROVIDER", "LLM_MODEL", "LLM_FALLBACK", "LLM_CONTEXT_TOKENS"];
/** A provider may list hundreds: more than these are behind a fold. */
const SHOWN_MODELS = 8;

/** The part of it. */
export function modelSection({ session, api, gone, site }) {
  const now = h("div", { class: "model-now", "data-testid": "model-now" });
  const found = h("div", { class: "providers", "data-testid": "providers" });
  const chosen = siteForm(site, MODEL_SETTINGS, said.chosenTitle, "model-form");
  const told = h("p", { class: "form-state", role: "status" });
  const choose = (provider, model) => {
    const put = chosen.put("LLM_PROVIDER", provider) && chosen.put("LLM_MODEL", model);
    told.textContent = put ? said.chosen(`${provider}/${model}`) : blocked(site);
    chosen.node.scrollIntoView({ block: "nearest" });
    chosen.node.querySelector("button").focus();
  };

  async function look() {
    found.replaceChildren(waitingFor(look, 3), h("p", { class: "none" }, said.looking));
    try {
      const models = await api.models();
      if (gone.aborted) return;
      now.replaceChildren(...nowNodes(models, api));
      const problem = models.problem ? h("p", { class: "problem" }, models.problem) : "";
      found.replaceChildren(problem, ...models.providers.map((provider) => providerNode(provider, api, choose)));
    } catch (error) {
      if (!gone.aborted) found.replaceChildren(errorState(error.message, look));
    }
  }

  const { hello } = mainState(session.store.getState());
  if (hello) now.replaceChildren(...nowNodes({ current: hello.model }, api));
  look();
  const again = button(said.lookAgain, look, { kind: "quiet" });
  return {
    nodes: [
      h("h3", {}, said.answers),
      now,
      h("h3", {}, said.found, " ", again),
      h("p", { class: "none" }, said.testCost),
      found,
      h("h3", {}, said.chosenTitle),
      told,
      chosen.node,
      h("h3", {}, said.rates),
      ...rateNodes({ session, api, gone }),
    ],
  };
}

function nowNodes({ current, images, context_tokens: tokens }, api) {
  const { kind, provider, name } = current;
  const title = kind === "tour" ? said.kinds.tour : [provider, name].filter(Boolean).join(" · ");
  const about = [said.kinds[kind], images !== undefined && (images ? said.images : said.noImages), tokens && said.context(tokens.toLocaleString(locale))];
  const line = h("p", { class: "model-name", dir: "auto" }, title);
  // The tour reads no request, so nothing fits into one.
  if (kind === "tour") return [line];
  return [line, h("p", { class: "none" }, about.filter(Boolean).join(" ")), tester(api, undefined, title)];
}

/** Why a model cannot be chosen here: the setting that wins. */
function blocked({ settings }) {
  const winning = settings.find(({ name, origin }) => (name === "LLM_PROVIDER" || name === "LLM_MODEL") && said.wins[origin]);
  return winning ? said.wins[winning.origin](winning.name) : said.looking;
}

/** A button that tries a model, and under it what came of it. */
function tester(api, model, name) {
  const result = h("div", { class: "tested", role: "status" });
  const test = async () => {
    result.replaceChildren(h("p", { class: "none" }, said.testing));
    try {
      result.replaceChildren(...testedNodes(await api.testModel(model)));
    } catch (error) {
      result.replaceChildren(h("p", { class: "problem" }, error.message));
    }
  };
  return h("div", {}, button(said.test, test, { "aria-label": `${said.test} ${name}`, "data-testid": "model-test" }), result);
}

function testedNodes({ ok, said: told, ms, checks }) {
  const head = h("p", { class: "tested-head", "data-ok": String(ok) }, `${said.tested[ok]} ${told} (${said.took(decimal(ms / 1000, 1))})`);
  const rows = checks.map(({ what, state, said: finding }) =>
    h("li", { "data-state": state }, h("span", { class: "check-what" }, what), " ", h("span", { class: "check-state" }, said.checkStates[state] ?? state), finding ? h("span", { class: "none" }, ` ${finding}`) : ""),
  );
  return [head, rows.length > 0 ? h("ul", { class: "checks" }, rows) : ""];
}

function providerNode({ provider, state, address, why, models, in_use: inUse, fallbacks }, api, choose) {
  const head = h("p", { class: "provider-head" }, h("strong", {}, provider), " ", h("span", { class: "provider-state", "data-state": state }, said.providerStates[state] ?? state));
  if (state !== "ready") return h("div", { class: "provider" }, head, why ? h("p", { class: "none", dir: "auto" }, saidNodes(why)) : "");
  const rows = models.map((model) => modelRow(provider, model, { inUse, fallbacks, api, choose }));
  const list = h("ul", { class: "models" }, rows.slice(0, SHOWN_MODELS));
  const rest = rows.slice(SHOWN_MODELS);
  const more = rest.length > 0 ? h("details", {}, h("summary", {}, said.manyModels(models.length)), h("ul", { class: "models" }, rest)) : "";
  return h("div", { class: "provider" }, head, address ? h("p", { class: "none", dir: "ltr" }, address) : "", list, more);
}

function modelRow(provider, model, { inUse, fallbacks, api, choose }) {
  const mark = inUse.includes(model) ? said.inUse : fallbacks.includes(model) ? said.fallback : "";
  const pick = button(said.choose, () => choose(provider, model), { kind: "quiet", "aria-label": `${said.choose} ${model}` });
  return h("li", {}, h("span", { class: "model-title", dir: "auto" }, model, mark ? h("span", { class: "mark-word" }, mark) : ""), pick, tester(api, `${provider}/${model}`, model));
}
