// One capability in the gallery: its name, what it is for, what it may do, and how it did in the
// last 30 days.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { grantMarks } from "../core/format.js";
import { localTime, shortTime } from "../core/times.js";
import { saidNodes } from "../ui/said.js";
import { linePoints, tookText } from "./figures.js";
import { purposeNode } from "./purpose.js";
import { capabilities as said } from "./words.js";

const [WIDTH, HEIGHT] = [120, 24];

/** `<l3-capability>`: `data` is a row with an `entry` of the list. */
export class CapabilityCard extends HTMLElement {
  set data({ entry }) {
    const { name, version, enabled, description, grants } = entry;
    const hadFocus = this.contains(document.activeElement);
    this.setAttribute("role", "listitem");
    this.dataset.capability = name;
    this.dataset.enabled = String(enabled);
    const link = h("a", { href: addressOf("capabilities", name), class: "card-name" }, h("code", {}, name));
    const off = enabled ? "" : h("span", { class: "off" }, said.disabled);
    this.replaceChildren(
      h("div", { class: "card-head" }, link, off, h("span", { class: "version" }, `v${version}`)),
      purposeNode(description),
      marks(grants),
      figures(entry.calls),
    );
    if (hadFocus) link.focus();
  }
}

/** The powers among grants that reach furthest, in a word or two each. */
export function marks(grants) {
  const all = grantMarks(grants);
  return h("p", { class: "grant-marks" }, all.length > 0 ? all.map((mark) => h("span", { class: "grant-mark" }, mark)) : h("span", { class: "none" }, said.reachesNothing));
}

/** The calls of 30 days as a small line and in words, and the newest failure. */
export function figures(calls) {
  if (!calls) return "";
  const { calls: count, failures, p50_ms: half, per_day: days = [], last_error: last } = calls;
  if (count === 0) return h("p", { class: "card-figures" }, said.neverCalled);
  const parts = [said.calls(count), half === null || half === undefined ? "" : said.half(tookText(Math.max(half, 1))), failures > 0 ? said.failures(failures) : ""];
  const failed = last ? h("p", { class: "card-error" }, said.lastFailure, " ", h("time", { datetime: last.at, title: localTime(last.at) }, shortTime(last.at)), ": ", h("span", { dir: "auto" }, saidNodes(last.said))) : "";
  return h("div", { class: "card-figures" }, line(days), h("p", {}, parts.filter(Boolean).join(" · ")), failed);
}

/** The words beside it say the same. */
function line(days) {
  const points = linePoints(days, WIDTH, HEIGHT);
  if (!points) return "";
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ viewBox: `0 -1 ${WIDTH} ${HEIGHT + 2}`, class: "spark", "aria-hidden": "true", preserveAspectRatio: "none" })) svg.setAttribute(name, value);
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  shape.setAttribute("points", points);
  svg.append(shape);
  return svg;
}

customElements.define("l3-capability", CapabilityCard);
