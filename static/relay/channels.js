// The channels: their states, the code that links WhatsApp to a phone, and how much of the pace is
// used up.

import { h } from "../core/dom.js";
import { shortTime } from "../core/times.js";
import { budgetBar } from "../ui/bars.js";
import { button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { relay as said } from "./words.js";

/** The section: `{ node, load() }`. */
export function channelsSection({ api, signal, announce, tell }) {
  const list = h("div", { class: "relay-channels", role: "list" });
  const node = h("section", { class: "relay-channels-part", "data-testid": "relay-channels" }, h("h2", {}, said.channels), list);
  const shown = new Map();

  async function load() {
    const { channels } = await api.relayChannels();
    if (signal.aborted) return;
    for (const channel of channels) {
      const told = JSON.stringify(channel);
      const before = shown.get(channel.name);
      if (before?.told === told) continue;
      // The element with the focus stays while only figures change.
      const card = await cardOf(channel, { logout, unlock });
      if (signal.aborted) return;
      const hadFocus = before?.card.contains(document.activeElement);
      if (before) before.card.replaceWith(card);
      else list.append(card);
      if (hadFocus) card.querySelector("button, a")?.focus();
      if (before && before.state !== channel.state) announce(`${nameOf(channel)}: ${said.channelStates[channel.state] ?? channel.state}`);
      shown.set(channel.name, { told, card, state: channel.state });
    }
  }

  const logout = (name) => {
    const action = async () => {
      await api.relayLogout(name);
      load().catch(tell);
    };
    ask({ title: said.logoutTitle, text: said.logoutText, yes: said.logout, kind: "danger", action });
  };
  const unlock = async (name) => {
    try {
      await api.relayUnlock(name);
      await load();
    } catch (error) {
      tell(error);
    }
  };
  return { node, load };
}

const nameOf = ({ name }) => said.channelNames[name] ?? name;

async function cardOf(channel, { logout, unlock }) {
  const { name, state, address, reason, until, used, qr, no_first_contacts: halted, strangers = 0, dropped = {} } = channel;
  const word = h("span", { class: "relay-state", "data-state": state }, said.channelStates[state] ?? state);
  const more = [address && said.as(address), until && said.until(shortTime(until))].filter(Boolean).join(" ");
  const count = Object.values(dropped).reduce((all, each) => all + each, 0);
  const card = h("div", { role: "listitem", class: "relay-channel", "data-channel": name, "data-state": state }, h("div", { class: "relay-channel-head" }, h("h3", {}, nameOf(channel)), word, more ? h("span", { class: "relay-note" }, more) : ""));
  if (reason) card.append(h("p", { class: "relay-note", dir: "auto" }, reason));
  if (halted) card.append(h("p", { class: "relay-warn", dir: "auto" }, halted), button(said.unlock, () => unlock(name), { "data-testid": "relay-unlock" }));
  if (said.channelHelp[state]) card.append(h("p", {}, said.channelHelp[state]));
  if (qr) card.append(await qrOf(qr));
  if (state !== "off" && used) card.append(pace(used));
  if (strangers > 0) card.append(h("p", { class: "relay-note" }, said.strangers(strangers)));
  if (count > 0) card.append(h("p", { class: "relay-note" }, said.dropped(count)));
  if (name === "loopback" && state === "online") card.append(h("p", {}, h("a", { href: "/loopback" }, said.loopback)));
  if (name !== "loopback" && state === "online") card.append(button(said.logout, () => logout(name), { "data-testid": "relay-logout" }));
  return card;
}

function pace(used) {
  const limits = [["minute", used.minute, used.minute_limit], ["day", used.day, used.day_limit], ["first", used.first_contacts_day, used.first_contacts_limit]];
  return h("div", { class: "relay-pace", "data-testid": "relay-pace" }, limits.map(([label, count, limit]) => budgetBar({ label: said.pace[label], used: count, limit, text: said.paceOf(count, limit) })));
}

/** The code as a drawing: dark on light in both themes, since cameras want it so. */
async function qrOf(text) {
  const { qrRows } = await import("../core/qr.js");
  const rows = qrRows(text);
  if (!rows) return h("p", { class: "problem" }, said.qrTooLong);
  const size = rows.length + 8;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ viewBox: `-4 -4 ${size} ${size}`, class: "relay-qr", role: "img", "aria-label": said.qr, "data-testid": "relay-qr", "shape-rendering": "crispEdges" })) svg.setAttribute(name, value);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join(""));
  svg.append(path);
  return svg;
}
