// The channel by which orders come: how it stands, and the code that links it to a phone.

import { h } from "../core/dom.js";
import { shortTime } from "../core/times.js";
import { operator as said } from "./words.js";

/** The part: `{ node, put(answer, channels) }`. */
export function channelPart() {
  const node = h("div", { class: "operator-channel", role: "status", "data-testid": "operator-channel" });
  let shown;

  async function put({ channel: name, numbers, strangers = [] }, channels) {
    const channel = channels.find((each) => each.name === name);
    const told = JSON.stringify([name, numbers, channel?.state, channel?.reason, channel?.until, channel?.qr, channel?.address, strangers]);
    if (told === shown) return;
    shown = told;
    if (!name) {
      node.replaceChildren(h("p", { class: "operator-note" }, said.off));
      return;
    }
    const state = channel?.state ?? "off";
    const word = h("span", { class: "operator-state", "data-state": state }, said.channelStates[state] ?? state);
    const parts = [h("p", {}, said.numbers(name, numbers), " ", word)];
    if (channel?.reason) parts.push(h("p", { class: "operator-note", dir: "auto" }, channel.reason));
    if (channel?.until) parts.push(h("p", { class: "operator-note" }, said.until(shortTime(channel.until))));
    if (channel?.qr) parts.push(h("p", {}, said.scan), await qrOf(channel.qr));
    if (strangers.length) parts.push(h("p", { class: "operator-note", "data-testid": "operator-strangers" }, said.strangers(strangers)));
    node.replaceChildren(...parts);
  }
  return { node, put };
}

/** The code as a drawing: dark on light in both themes, since cameras want it so. */
async function qrOf(text) {
  const { qrRows } = await import("../core/qr.js");
  const rows = qrRows(text) ?? [];
  const size = rows.length + 8;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ viewBox: `-4 -4 ${size} ${size}`, class: "operator-qr", role: "img", "aria-label": said.qr, "shape-rendering": "crispEdges" })) svg.setAttribute(name, value);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join(""));
  svg.append(path);
  return svg;
}
