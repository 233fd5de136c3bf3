// At the limit of a tier: what happened, when it goes on, and who can change it.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { shortTime } from "../core/times.js";
import { button } from "../ui/button.js";
import { openDialog } from "../ui/dialog.js";
import { said } from "./words.js";

/** Opens it. `text` is the server's sentence, `allowances` as the server gives them. */
export function openUpgrade(text, allowances, isMember) {
  if (document.querySelector("dialog:modal")) return;
  const until = allowances?.next_day_at ? said.upgradeUntil(shortTime(allowances.next_day_at)) : "";
  const ways = isMember ? said.upgradeMember : said.upgradeOwner;
  const go = isMember ? "" : h("a", { class: "button primary", href: addressOf("settings", "tiers") }, said.upgradeGo);
  const shut = button(said.upgradeClose, () => dialog.close(), isMember ? { kind: "primary" } : {});
  const dialog = openDialog(said.upgradeTitle, [h("h2", {}, said.upgradeTitle), h("p", { class: "upgrade-said" }, text), h("p", {}, `${until} ${ways}`.trim()), h("div", { class: "dialog-buttons" }, shut, go)], { class: "upgrade", "data-testid": "upgrade" });
  shut.focus();
}
