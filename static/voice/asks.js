// Questions before a call: where the sound goes, whether to take a call over, and what a tier
// without voice means.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { button } from "../ui/button.js";
import { ask, openDialog } from "../ui/dialog.js";
import { toast } from "../ui/toast.js";
import { said, whereWords } from "./words.js";

/** Says where the sound goes (`{ where, host }`), and calls `goOn(where)` if the person wants that. `install()` keeps it on the device, where that is possible. */
export function askConsent({ where, host }, goOn, install) {
  const stay = async () => {
    if (!(await install().catch(() => false))) {
      toast(said.installFailed);
      return;
    }
    dialog.close();
    toast(said.installed);
    goOn("device");
  };
  const control = where === "downloadable" ? button(said.install, stay, { kind: "quiet", "data-testid": "voice-install" }) : undefined;
  const dialog = ask({ title: said.consentTitle, text: whereWords({ where, host }), control, yes: said.consentYes, action: () => void goOn(where) });
}

/** Asks whether a call in another tab is to go on here. */
export const askTakeOver = (goOn) => ask({ title: said.takeOverTitle, text: said.takeOverText, yes: said.takeOver, action: () => void goOn() });

/** The tier has no voice. */
export function openVoiceUpgrade(isMember) {
  const shut = button(said.upgradeClose, () => dialog.close(), isMember ? { kind: "primary" } : {});
  const go = isMember ? "" : h("a", { class: "button primary", href: addressOf("settings", "tiers") }, said.upgradeGo);
  const text = isMember ? said.upgradeMember : said.upgradeOwner;
  const dialog = openDialog(said.upgradeTitle, [h("h2", {}, said.upgradeTitle), h("p", {}, text), h("div", { class: "dialog-buttons" }, shut, go)], { "data-testid": "voice-upgrade" });
  shut.focus();
}
