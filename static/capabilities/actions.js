// The switches of a capability's life: roll back, disable, enable, export.

import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { exactNodes } from "../ui/exact.js";
import { problemLine } from "../ui/section.js";
import { save } from "../ui/save.js";
import { capabilities as said } from "./words.js";

/** `{ node, makeLive(version) }`. `reload()` shows the capability anew after a change. */
export function actions({ api, capability, reload, go, announce }) {
  const { name, version, live, state, versions } = capability;
  const { line, say } = problemLine();
  const isOff = state === "disabled";
  /** Runs something and says what went wrong. */
  const doing = (action) => async () => {
    say(undefined);
    try {
      await action();
    } catch (error) {
      say(error.message);
    }
  };

  const toggle = doing(async () => {
    await api.enable(name, isOff);
    announce(isOff ? said.enabled(name) : said.isDisabled(name));
    await reload();
  });

  /** Makes a version live after a question; if it may do more than the live one, a second question says what. */
  function makeLive(to) {
    // After the question is closed, so that the focus is back in what is shown anew.
    const done = () =>
      setTimeout(() => {
        announce(said.madeLive(name, to));
        // The address of an old version would show that one for ever.
        if (version === live) reload();
        else go("capabilities", name);
      });
    const action = async () => {
      try {
        await api.rollBack(name, to);
      } catch (error) {
        if (!error.grants?.length) throw error;
        // After this question is closed, so that the focus has a place to go back to.
        setTimeout(() => confirmPowers(to, error.grants, done));
        return;
      }
      done();
    };
    ask({ title: said.makeLiveTitle(name, to), text: said.makeLiveText(live), yes: said.makeLive, action });
  }

  function confirmPowers(to, grants, done) {
    const list = h("ul", { class: "grant-list" }, grants.map((sentence) => h("li", { dir: "auto" }, exactNodes(sentence))));
    const action = async () => {
      await api.rollBack(name, to, true);
      done();
    };
    ask({ title: said.mayMoreTitle(to), text: said.mayMoreText, control: list, yes: said.makeLive, kind: "danger", action });
  }

  const before = versions.map((each) => each.version).filter((each) => each < live).at(-1);
  const back = version === live ? before : version;
  const parts = [
    back !== undefined && back !== live ? button(version === live ? said.rollBack(back) : said.makeThisLive, () => makeLive(back), { "data-action": "rollback" }) : "",
    button(isOff ? said.enable : said.disable, toggle, { "data-action": "toggle", kind: isOff ? "primary" : "plain" }),
    button(said.export, doing(async () => save(`${name}-v${version}.json`, JSON.stringify(await api.exportCapability(name, version), null, 2), "application/json")), { "data-action": "export" }),
  ];
  return { node: h("div", { class: "detail-actions" }, h("div", { class: "detail-buttons" }, parts), line), makeLive };
}
