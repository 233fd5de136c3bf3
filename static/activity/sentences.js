// Events as sentences for a person. Pure: an event as it was recorded, and what is said of it here.

import { operationLine, summarize } from "../core/format.js";
import { readJson } from "../core/json.js";
import { oneLine } from "../core/text.js";
import { approvals } from "../ui/approval-words.js";
import { said as all } from "./words.js";

const { said } = all;
/** The one who answers if no model does. */
const CONTROLLER = "level3";
/** The profile of conversations with contacts: all input of their turns is the server's, for the model. */
const CONTACT = "contact";
/** Texts of an event that stand under its sentence. */
const TEXT = 300;

/**
 * `{ said, text, tone, limit }` of an event (`{ kind, … }`). `told` is what the server says of it: of outcomes it knows more; `profile` is that of its
 * conversation. `tone` is `failed` (it ended the turn), `slip` (the turn went on), `waits` or `unknown`; `limit` is the budget that ended the turn,
 * such as `turn.steps`.
 */
export function sentenceOf(event, told = "", profile = "") {
  const make = Object.hasOwn(SENTENCES, event.kind) ? SENTENCES[event.kind] : undefined;
  const { text = "", ...rest } = make?.(event, told, profile) ?? { said: told || said.other };
  return { ...rest, text: oneLine(text, TEXT) };
}

/** The words that began a turn, if a person wrote them: those that wake the assistant are for the model. */
export const wordsOf = ({ origin, content }, profile) => (origin === "message" && profile !== CONTACT ? content : "");

const SENTENCES = {
  turn_queued: (event, _told, profile) => {
    const began = event.origin === "message" && profile === CONTACT ? CONTACT : event.origin;
    return { said: said.turn_queued[began] ?? said.other, text: wordsOf(event, profile) };
  },
  turn_started: ({ fence }) => ({ said: fence > 1 ? said.turn_again(fence) : said.turn_started }),
  turn_resumed: ({ content }) => ({ said: said.turn_resumed, text: content ?? "" }),
  turn_ended: ({ state, reason }) => ({ said: said.turn_ended[state] ?? said.other, text: reason ?? "", tone: state === "failed" ? "failed" : undefined }),
  turn_steered: ({ content }) => ({ said: said.turn_steered, text: content }),
  steering_shown: () => ({ said: said.steering_shown }),
  step_answered: answered,
  answer_broken_off: ({ model }) => ({ said: said.broke(model), tone: "slip" }),
  tool_call_proposed: ({ request: { name, arguments: args } }) => ({ said: said.proposed(name), text: summarize(name, argumentsOf(args)) }),
  call_begun: ({ name }) => ({ said: said.begun(name) }),
  proposal_classified: ({ answered: is, classification }) => ({ said: is ? said.classified(classification.requires_confirmation) : said.notClassified }),
  tool_call_ended: ({ name, outcome }, told) => ({
    said: told || said.ended(name, outcome.ok),
    text: name,
    tone: outcome.account?.uncertain ? "unknown" : outcome.ok ? undefined : "slip",
  }),
  screen_pictured: () => ({ said: said.pictured }),
  call_undone: ({ rows }) => ({ said: said.undone(rows) }),
  approval_requested: ({ shown }) => ({ said: said.requested, text: (shown?.what ?? []).join(" "), tone: "waits" }),
  approval_decided: ({ state, channel, reason }) => {
    const by = state === "approved" || state === "denied" ? approvals.by[channel] : undefined;
    return { said: `${[said.decided[state] ?? state, by].filter(Boolean).join(", ")}.`, text: reason ?? "" };
  },
  operation_recorded: ({ power, state, request }) => ({
    said: `${said.power[power] ?? power} ${said.operation[state] ?? state}.`,
    text: request ? operationLine({ power, request }) : "",
    tone: { failed: "slip", unknown: "unknown" }[state],
  }),
  task_changed: ({ task, deleted }) => ({ said: (deleted ? said.task.deleted : (said.task[task.status] ?? said.task.pending))(task.title) }),
  tasks_fired: (_event, told) => ({ said: told || said.fired }),
  tasks_held: (_event, told) => ({ said: told || said.held, tone: "waits" }),
  task_broken_down: ({ subtasks }) => ({ said: said.brokenDown(subtasks.length), text: subtasks.join(", ") }),
  item_named: ({ task, subtask }) => ({ said: said.named(task, subtask) }),
  timer_changed: ({ timer, over }) => ({ said: over ? said.timerOver : (said.timer[timer.state] ?? said.other) }),
  reminder_given: ({ title, late }) => ({ said: late ? said.remindedLate : said.reminded, text: title }),
  voice_call_changed: ({ state, reason }) => ({ said: said.voice[reason] ?? said.voice[state] ?? said.other, tone: reason === "failed" ? "slip" : undefined }),
  begun_anew: () => ({ said: said.begunAnew }),
  instance_made: ({ instance }) => ({ said: said.instanceMade, text: instance.objective }),
  instance_moved: ({ instance, progress: { state, reason } }) => ({ said: said.instanceMoved(instance, said.instanceStates[state] ?? state), text: reason ?? "" }),
  // The words themselves stand in their transcript, with a mark that says whose they are.
  relay_message_kept: ({ message }) => ({ said: said.messageKept[message.said_by] ?? said.other }),
  replies_shown: () => ({ said: said.repliesShown }),
  delivery_changed: ({ message, delivery: { state, reason } }) => ({
    said: said.delivery(message, said.deliveryStates[state] ?? state),
    text: reason ?? "",
    tone: { failed: "slip", unknown: "unknown" }[state],
  }),
  global_context_changed: ({ version }) => ({ said: said.contextKept(version) }),
  campaign_changed: ({ campaign }) => ({ said: said.campaign(campaign.name, said.campaignStates[campaign.status] ?? campaign.status), text: campaign.reason ?? "" }),
  campaign_task_changed: ({ task }) => ({ said: said.campaignTask(task.id, said.campaignTaskStates[task.status] ?? task.status), text: task.description }),
  leads_kept: ({ leads }) => ({ said: said.leads(leads.length) }),
  artifact_kept: ({ artifact }) => ({ said: said.artifact(artifact.artifact_key, artifact.version) }),
  context_changed: ({ context }) => ({ said: context.void ? said.wordVoid : said.wordLeft(context.uses_left) }),
  cycle_words: () => ({ said: said.cycleWords }),
  cycle_asked: ({ number }) => ({ said: said.cycleAsked(number) }),
  // Texts behind a proposal are for the model.
  proposal_refused: () => ({ said: said.proposalRefused, tone: "slip" }),
  cycle_ended: () => ({ said: said.cycleEnded }),
  page_read: ({ page }) => ({ said: said.pageRead(page.address) }),
  page_touched: ({ touch }) => ({ said: said.pageTouched(touch.tool, touch.address, touch.state), tone: touch.state === "done" ? undefined : "failed" }),
  script_ran: ({ script, ok }) => ({ said: said.scriptRan(script.key, script.version, ok), tone: ok ? undefined : "failed" }),
  chat_forgotten: ({ messages }) => ({ said: said.chatForgotten(messages.length) }),
  capability_installed: ({ name, version }) => ({ said: said.installed(name, version) }),
  capability_changed: ({ name, version, enabled }) => ({ said: enabled ? said.live(name, version) : said.disabled(name) }),
};

function answered({ model, finish_reason: why, content, last, unproven }) {
  if (model === CONTROLLER) {
    // Orders given by hand are calls without a word of a model.
    if (why === "tool_calls") return { said: said.turn_queued.command };
    if (why !== "limit") return { said: said.own, text: content, tone: "failed" };
    return { said: said.limit, text: content, tone: "waits", limit: limitOf(content) };
  }
  if (why === "stopped_by_user") return { said: said.stopped(model), text: content };
  if (unproven) return { said: (last ? said.unproven : said.taken)(model), text: content };
  if (last) return { said: said.answered(model), text: content };
  return { said: (why === "tool_calls" ? said.asks : said.wroteOn)(model), text: content };
}

/** The budget that a sentence about a reached limit names last, or `undefined` if it names none. */
export function limitOf(text) {
  return [...text.matchAll(/`((?:turn|conversation|day|tasks)\.[a-z_]+)`/g)].at(-1)?.[1];
}

/** Arguments as a model wrote them: read if they can be. */
export function argumentsOf(text) {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
