// One task of the operator: its plan action by action with verdicts and outcomes, the files of it,
// and the recordings of what was risky.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { oneLine } from "../core/text.js";
import { duration, localTime, shortTime } from "../core/times.js";
import { approvals } from "../ui/approval-words.js";
import { openDetails } from "../ui/details.js";
import { exactNodes } from "../ui/exact.js";
import { saidNodes } from "../ui/said.js";
import { errorState, waitingFor } from "../ui/states.js";
import { courseOf } from "./course.js";
import { operator as said } from "./words.js";

const MOST = 400;

/** Opens the task `id`: `{ node, load() }`, the pane and what shows it as it is now. When it closes the focus goes back to `from`. */
export function openTask({ api, signal, id, conversation, from }) {
  const body = h("div", { class: "operator-course", "data-testid": "operator-course" }, waitingFor(() => load(), 3));
  let told;
  async function load() {
    try {
      const [{ events }, { recordings }] = await Promise.all([api.operatorCourse(id), api.operatorRecordings(id)]);
      const now = JSON.stringify([events.length, recordings]);
      if (signal.aborted || now === told) return;
      told = now;
      const open = [...body.querySelectorAll("details[open]")].map(({ dataset }) => dataset.part);
      body.replaceChildren(...courseNodes({ id, conversation, course: courseOf(events), recordings, api }));
      for (const part of open) body.querySelector(`details[data-part="${CSS.escape(part)}"]`)?.setAttribute("open", "");
    } catch (error) {
      if (!signal.aborted && told === undefined) body.replaceChildren(errorState(said.noCourse(id, error.message), load));
    }
  }
  const node = openDetails({ title: said.task(id), body, from });
  load();
  return { node, load };
}

function courseNodes({ id, conversation, course, recordings, api }) {
  const { orders, steps, answer, unproven, media, end } = course;
  const parts = [
    h("p", {}, h("a", { href: addressOf("chat", conversation, id) }, said.inChat)),
    h("h3", {}, said.order),
    ...orders.map((text) => h("p", { class: "operator-goal", dir: "auto" }, exactNodes(text))),
    h("h3", {}, said.plan),
    steps.length > 0 ? h("ol", { class: "operator-steps", "data-testid": "operator-steps" }, steps.map(stepNode)) : h("p", { class: "none" }, said.noPlan),
  ];
  if (answer) parts.push(h("h3", {}, said.answer), h("p", { class: "operator-goal", dir: "auto" }, exactNodes(answer)));
  if (unproven) parts.push(h("p", { class: "operator-undelivered" }, said.unproven));
  if (end?.reason) parts.push(h("p", { class: "operator-note", dir: "auto" }, exactNodes(end.reason)));
  if (media.length > 0) parts.push(h("h3", {}, said.media), h("div", { class: "operator-media", "data-testid": "operator-media" }, media.map((name) => mediaNode(api.operatorMedia(name), name))));
  if (recordings.length > 0) parts.push(h("h3", {}, said.recordings), h("p", { class: "operator-note" }, said.recordedIn(id)), ...recordings.map((recording) => recordingNode(id, recording, api)));
  return parts;
}

function stepNode({ at, reasoning, name, text, verdict, isRead, asked, decided, law, operations, outcome }) {
  const rows = [
    [said.reasoning, reasoning],
    [said.governor, verdict && [verdictWords(verdict), isRead ? "" : said.strictest].filter(Boolean).join(" · ")],
    [said.asked, asked && [...asked.what, asked.why].filter(Boolean).join(" ")],
    [said.decision, decisionWords({ asked, decided, law })],
    ...operations.map(({ state, text: what }) => [said.operation, `${what} · ${said.operationStates[state] ?? state}`]),
    [said.outcome, outcome && [outcome.told, outcome.ms === undefined ? "" : duration(outcome.ms)].filter(Boolean).join(" · ")],
  ];
  const state = outcome?.state ?? (asked && !decided ? "waits" : "open");
  const head = h("p", { class: "operator-head" }, h("code", {}, name), h("span", { class: "operator-state", "data-state": state }, said.stepStates[state]), at ? h("time", { datetime: at, title: localTime(at) }, shortTime(at)) : "");
  return h("li", { "data-state": state }, head, text ? h("p", { class: "operator-note", dir: "auto" }, exactNodes(text)) : "", pairs(rows));
}

const verdictWords = ({ complexity, risk, impact, requires_confirmation: confirm }) =>
  [said.complexity(said.grades[complexity] ?? complexity), said.risk(said.grades[risk] ?? risk), said.impact(said.impacts[impact] ?? impact), confirm ? said.wantsPerson : ""].filter(Boolean).join(", ");

function decisionWords({ asked, decided, law }) {
  if (decided) return [said.decisions[decided.state] ?? decided.state, approvals.by[decided.channel], decided.reason].filter(Boolean).join(", ");
  if (asked) return said.until(shortTime(asked.until));
  return law && (said.laws[law] ?? law);
}

const pairs = (rows) => h("dl", { class: "operator-pairs" }, rows.filter(([, value]) => value).flatMap(([name, value]) => [h("dt", {}, name), h("dd", { dir: "auto" }, saidNodes(oneLine(value, MOST)))]));

/** A picture; a file that is none is named. */
function mediaNode(address, name) {
  const picture = h("img", { src: address, alt: said.picture(name.slice(0, 8)), loading: "lazy", class: "operator-picture" });
  const link = h("a", { href: address, target: "_blank", rel: "noopener" }, picture);
  picture.addEventListener("error", () => link.replaceWith(h("p", { class: "operator-note" }, said.file(name.slice(0, 8)))), { once: true });
  return link;
}

function recordingNode(task, { call, name, state, arguments: given, result, logs, operations, pictures }, api) {
  const shown = pictures.map((when) => h("figure", {}, mediaNode(api.recordedPicture(task, call, when), `${call}-${when}`), h("figcaption", { class: "operator-note" }, said.moments[when] ?? when)));
  const text = (label, value) => (value ? [h("p", { class: "operator-note" }, label), h("pre", { class: "plain", tabindex: "0", role: "group", "aria-label": `${label}: ${name}`, dir: "auto" }, exactNodes(value))] : []);
  const json = (value) => (Array.isArray(value) && value.length > 0 ? JSON.stringify(value, null, 1) : "");
  return h(
    "details",
    { class: "operator-recording", "data-part": `call-${call}`, "data-testid": "operator-recording" },
    h("summary", {}, said.recording(name, said.stepStates[state] ?? state)),
    shown.length > 0 ? h("div", { class: "operator-media" }, shown) : h("p", { class: "operator-note" }, said.noPictures),
    text(said.arguments, given),
    text(said.result, result),
    text(said.logs, Array.isArray(logs) ? logs.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n") : ""),
    text(said.operations, json(operations)),
  );
}
