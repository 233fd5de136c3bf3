// One turn step by step, forwards and backwards: the event, and how the turn stood then.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { argumentParts } from "../core/format.js";
import { isPlain } from "../core/json.js";
import { compactNumber, costText, decimal } from "../core/numbers.js";
import { shownOf } from "../core/state-law.js";
import { localTime, shortTime } from "../core/times.js";
import { approvalBody } from "../ui/approval-body.js";
import { button, iconButton } from "../ui/button.js";
import { codeBlock } from "../ui/code.js";
import { exactNodes } from "../ui/exact.js";
import { foldable } from "../ui/fold.js";
import { saidNodes } from "../ui/said.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";
import { limitLink } from "./events.js";
import { replayed } from "./replayed.js";
import { argumentsOf, sentenceOf, wordsOf } from "./sentences.js";
import { said } from "./words.js";

/** The view of the turn that the address names. */
export function replayView({ session, gone, parts: [turn] }) {
  const node = h("div", { class: "replay" }, waitingFor(() => load()));
  const load = async () => {
    try {
      const { events, profile } = await session.api.replay(turn);
      if (gone.aborted) return;
      node.replaceChildren(...(events.length > 0 ? player(turn, profile, events) : [emptyState(said.notThere)]));
    } catch (error) {
      if (gone.aborted) return;
      const toEvents = h("a", { href: addressOf("activity") }, said.toEvents);
      node.replaceChildren(error.status === 404 ? emptyState(said.noTurn(turn), said.noTurnHelp, toEvents) : errorState(`${said.notThere} ${error.message}`, load));
    }
  };
  load();
  return node;
}

function player(turn, profile, events) {
  const end = events.length - 1;
  const shown = h("article", { class: "replay-event", "aria-live": "polite", "data-testid": "replay-event" });
  const facts = h("dl", { class: "facts", "data-testid": "replay-facts" });
  const range = h("input", { type: "range", min: "1", max: String(end + 1), step: "1", "aria-label": said.stepsOf(turn), title: said.keys, "data-testid": "replay-range" });
  const place = h("span", { class: "replay-place" });
  const list = h(
    "ol",
    { class: "replay-list" },
    events.map((event, index) => h("li", {}, button(saidNodes(sentenceOf(event, event.said, profile).said), () => go(index), { class: null }))),
  );
  const back = iconButton("back", said.back, () => go(at - 1), { "data-testid": "replay-back" });
  const on = iconButton("forward", said.on, () => go(at + 1), { "data-testid": "replay-on" });
  let at = 0;

  function go(index) {
    at = Math.min(end, Math.max(0, index));
    const event = events[at];
    range.value = String(at + 1);
    range.setAttribute("aria-valuetext", `${said.place(at + 1, end + 1)}: ${sentenceOf(event, event.said, profile).said}`);
    place.textContent = said.place(at + 1, end + 1);
    // Not `disabled`: at the end the focus stays where it is.
    back.setAttribute("aria-disabled", String(at === 0));
    on.setAttribute("aria-disabled", String(at === end));
    shown.replaceChildren(...eventNodes(event, profile));
    facts.replaceChildren(...factNodes(replayed(events, at)));
    [...list.children].forEach((item, each) => {
      item.dataset.when = each === at ? "now" : each < at ? "before" : "after";
      if (each === at) item.firstElementChild.setAttribute("aria-current", "step");
      else item.firstElementChild.removeAttribute("aria-current");
    });
  }

  range.addEventListener("input", () => go(Number(range.value) - 1));
  go(0);
  return [
    h("p", {}, h("a", { href: addressOf("activity") }, `‹ ${said.toEvents}`)),
    h("h2", {}, said.stepsOf(turn)),
    h("div", { class: "replay-controls" }, back, range, on, place),
    h("div", { class: "replay-columns" }, h("div", {}, shown, h("h3", {}, said.then), facts), list),
  ];
}

function eventNodes(event, profile) {
  const { said: sentence, tone, limit } = sentenceOf(event, event.said, profile);
  return [
    h("p", { class: "event-said", dir: "auto", "data-tone": tone }, saidNodes(sentence)),
    h("time", { datetime: event.at, title: localTime(event.at) }, shortTime(event.at)),
    ...details(event, profile),
    limit ? limitLink(limit, profile) : "",
  ].filter(Boolean);
}

/** All that belongs to an event. */
function details(event, profile) {
  switch (event.kind) {
    case "turn_queued":
      return text(wordsOf(event, profile));
    case "turn_steered":
    case "turn_resumed":
    case "step_answered":
      return text(event.content ?? "");
    case "turn_ended":
    case "approval_decided":
      return text(event.reason ?? "");
    case "tool_call_proposed":
      return argumentNodes(event.request.arguments);
    case "tool_call_ended":
      return outcomeNodes(event.outcome);
    case "approval_requested":
      return [h("div", { class: "approval-body" }, approvalBody(shownOf(event.shown)))];
    default:
      return text(sentenceOf(event, event.said, profile).text);
  }
}

const text = (content) => (content.trim() === "" ? [] : [h("p", { class: "replay-text", dir: "auto" }, exactNodes(content))]);

function argumentNodes(written) {
  const read = argumentsOf(written);
  if (isPlain(read)) return titled(said.arguments, codes([{ text: written, language: "" }]));
  const plain = Object.entries(read).filter(([, value]) => isPlain(value));
  const short = plain.filter(([, value]) => String(value).length <= 80 && !String(value).includes("\n"));
  const rest = Object.fromEntries(Object.entries(read).filter(([name]) => !short.some(([known]) => known === name)));
  const rows = short.flatMap(([name, value]) => [h("dt", {}, exactNodes(name)), h("dd", { dir: "auto" }, value === null ? "–" : exactNodes(String(value)))]);
  const parts = Object.keys(rest).length > 0 ? codes(argumentParts(rest)) : [];
  return titled(said.arguments, [rows.length > 0 ? h("dl", { class: "facts" }, rows) : "", ...parts]);
}

function outcomeNodes({ result, logs = [] }) {
  const lines = logs.length > 0 ? titled(said.log, codes([{ text: logs.join("\n"), language: "" }])) : [];
  // Words for a model stand folded away.
  const told = h("details", { class: "replay-told" }, h("summary", {}, said.result), codes([{ text: result, language: "" }]));
  return [...lines, result.trim() === "" ? "" : told].filter(Boolean);
}

const titled = (title, nodes) => [h("h3", {}, title), ...nodes];
const codes = (parts) => parts.map(({ text: code, language }) => foldable(codeBlock(code, language), code));

function factNodes({ state, ms, requests, input, output, cost, open, done, failed }) {
  const rows = [
    [said.state, said.states[state] ?? state],
    [said.since, ms < 10_000 ? `${decimal(ms / 1000, ms < 1000 ? 3 : 1)} s` : `${Math.round(ms / 1000)} s`],
    [said.asked, String(requests)],
    [said.tokens, `${compactNumber(input)}, ${compactNumber(output)}`],
    [said.cost, costText(cost)],
    [said.calls, `${open}, ${done}, ${failed}`],
  ];
  return rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
}
