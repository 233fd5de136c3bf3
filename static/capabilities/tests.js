// The tests that are kept with a version. They run in the sandbox and reach nothing outside it.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { exactNodes } from "../ui/exact.js";
import { problemLine } from "../ui/section.js";
import { capabilities as said } from "./words.js";

/** The panel. */
export function testsPanel({ api, capability, announce, signal }) {
  const { name, version, tests } = capability;
  if (tests.length === 0) return h("div", {}, h("p", { class: "none" }, said.noTests));
  const { line, say } = problemLine();
  const sum = h("span", { class: "test-sum", "data-testid": "test-sum" });
  const list = h("ol", { class: "test-list" }, tests.map((test) => row({ params: test.params, expected: test.expect })));
  const run = async () => {
    say(undefined);
    try {
      const { passed, failed, results } = await api.testCapability(name, version);
      if (signal.aborted) return;
      list.replaceChildren(...results.map(row));
      sum.textContent = failed === 0 ? said.allPass(passed) : said.someFail(failed, passed + failed);
      sum.dataset.state = failed === 0 ? "done" : "failed";
      announce(sum.textContent);
    } catch (error) {
      say(error.message);
    }
  };
  return h("div", {}, h("p", { class: "test-bar" }, button(said.run, run, { "data-action": "test" }), sum), line, list);
}

/** One test: what it is called with, what should come, and once it has run, what came. */
function row({ params, expected, ok, result, error, logs = [] }) {
  const state = ok === undefined ? "" : ok ? "done" : "failed";
  const called = h("code", {}, exactNodes(inWords(params)));
  const should = expected === undefined ? h("span", { class: "none" }, said.onlySucceeds) : h("code", {}, exactNodes(JSON.stringify(expected)));
  const came = ok === false ? h("p", { class: "fault", dir: "auto" }, error ? exactNodes(error.message ?? error.error ?? said.failed) : [said.gave, " ", h("code", {}, exactNodes(result ?? ""))]) : "";
  const log = ok === false && logs.length > 0 ? h("pre", { class: "plain", dir: "ltr" }, exactNodes(logs.join("\n"))) : "";
  return h("li", { "data-state": state }, h("span", { class: "test-state" }, state ? said.testStates[state] : ""), h("div", {}, called, " → ", should, came, log));
}

/** Arguments on one line: names with their values. */
function inWords(params) {
  if (params === null || typeof params !== "object" || Array.isArray(params)) return JSON.stringify(params);
  const pairs = Object.entries(params).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return pairs.length > 0 ? pairs.join(", ") : said.noArguments;
}
