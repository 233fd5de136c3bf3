// The tasks of a campaign: what is still unproven, what proved the others, questions to the person,
// what a person may do with each, and new ones.

import { h, keyed } from "../core/dom.js";
import { draftOf } from "../core/drafts.js";
import { button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { field, input } from "../ui/forms.js";
import { listSection, makePart, orderForm, partRows, stateWord } from "./part.js";
import { proofWords } from "./proof.js";
import { tasksOf } from "./rows.js";
import { campaigns as said } from "./words.js";

/** The section: `{ node, put(tasks, over) }`. `order(work)` does something and shows what came of it. */
export function tasksSection({ api, id, storage, order, load, announce }) {
  const { node, list, none } = listSection(said.tasks, said.noTasks, "campaigns-tasks-list");
  const deed = (task, what, reason) => order(() => api.changeCampaignTask(id, task, what, reason));
  const answer = (task, question, text) => order(() => api.answerCampaign(id, task, question, text));
  const show = (task, host) => taskRow(task, host, { deed, answer });
  const add = addForm({ api, id, storage, load, announce });
  node.append(add);
  const put = (tasks, over = false) => {
    add.hidden = over;
    none.hidden = tasks.length > 0;
    const rows = tasks.map((task) => ({ ...task, over }));
    keyed(list, partRows(rows, ({ id: task }) => task, show), makePart);
  };
  return { node, put };
}

/** Makes tasks of lines or JSON, one after the other. Those that were made leave the field, should one of the others be refused. */
function addForm({ api, id, storage, load, announce }) {
  const text = h("textarea", { class: "input campaigns-tasks", rows: "3", dir: "auto", spellcheck: "false", "data-testid": "campaigns-add-tasks" });
  const labelled = field(said.tasksLabel, text, said.tasksHelp);
  const draft = draftOf(storage, `campaigns.${id}`);
  [text.value = ""] = draft.texts();
  text.addEventListener("input", () => draft.keep(text.value));
  async function work() {
    let tasks;
    try {
      tasks = tasksOf(text.value);
    } catch (error) {
      throw new Error(said.noJson, { cause: error });
    }
    if (tasks.length === 0) return text.focus();
    try {
      while (tasks.length > 0) {
        announce((await api.addCampaignTask(id, tasks[0])).told);
        tasks.shift();
        text.value = tasks.length > 0 ? JSON.stringify(tasks, null, 1) : "";
        draft.sent(text.value);
      }
    } finally {
      await load();
    }
    return undefined;
  }
  const { node } = orderForm({ id: "campaigns-add", title: said.addTasks, controls: [labelled.node], yes: said.add, work });
  // A draft that came back is not hidden.
  node.open = text.value !== "";
  return node;
}

function taskRow({ id, description, status, unproven = [], hindrance, begins_when: begins = [], metadata = {}, over }, host, { deed, answer }) {
  host.dataset.task = id;
  host.dataset.status = status;
  const isDone = status === "done";
  const { reason, evidence = [], questions = [], requires = [] } = metadata;
  const parts = [
    h("div", { class: "campaigns-head" }, h("strong", {}, said.task(id)), stateWord(status, said.taskStates[status] ?? status)),
    h("p", { class: "campaigns-text", dir: "auto" }, description),
    reason ? h("p", { class: "campaigns-note", dir: "auto" }, reason) : undefined,
    hindrance && !isDone ? h("p", { class: "campaigns-note", dir: "auto" }, said.hindered(hindrance)) : undefined,
  ];
  if (!isDone && begins.length > 0) parts.push(named(said.begins, begins.map(({ words, holds }) => (holds ? said.holds(words) : words))));
  if (!isDone && unproven.length > 0) parts.push(named(said.unproven, unproven));
  if (isDone) parts.push(evidence.length > 0 ? named(said.proven, evidence.map(proofWords)) : h("p", { class: "campaigns-note" }, said.byPerson));
  for (const each of questions) parts.push(questionNode(each, over, (text) => answer(id, each.question, text)));
  const deeds = over ? [] : deedsOf({ id, status, canFinish: requires.length === 0 && begins.every(({ holds }) => holds) }, deed);
  if (deeds.length > 0) parts.push(h("div", { class: "campaigns-deeds" }, deeds));
  return parts;
}

function deedsOf({ id, status, canFinish }, deed) {
  const one = (text, action, name) => button(text, action, { "aria-label": `${text}: ${said.task(id)}`, "data-part": name, "data-testid": `campaigns-${name}` });
  if (status === "done") return [];
  if (status === "blocked") return [one(said.unblock, () => deed(id, "unblock"), "unblock")];
  const finish = canFinish ? [one(said.finish, () => deed(id, "finish"), "finish")] : [];
  return [...finish, one(said.block, () => blockAfterReason(id, deed), "block")];
}

/** Asks for the reason first: without one nothing is set aside. */
function blockAfterReason(id, deed) {
  const reason = input({ maxlength: "500", required: true, "data-testid": "campaigns-reason" });
  ask({ title: said.blockTitle, text: said.blockText, control: field(said.blockReason, reason).node, yes: said.block, action: () => deed(id, "block", reason.value.trim()) });
  reason.focus();
}

function questionNode(asked, over, answer) {
  const { text, answer: given } = asked;
  if (!given && !over) return questionForm(asked, answer);
  return h("p", { class: "campaigns-note", dir: "auto" }, given ? `${text} — ${said.answered(given)}` : text);
}

function questionForm({ question, text }, answer) {
  const words = h("textarea", { class: "input", rows: "2", dir: "auto", "data-part": `answer-${question}`, "data-testid": "campaigns-answer" });
  const { node } = field(text, words);
  const send = () => (words.value.trim() === "" ? words.focus() : answer(words.value.trim()));
  return h("div", { class: "campaigns-question" }, node, button(said.answer, send, { "data-part": `send-${question}`, "data-testid": "campaigns-answer-send" }));
}

const named = (title, items) => h("div", { class: "campaigns-named" }, h("p", {}, title), h("ul", {}, items.map((text) => h("li", { dir: "auto" }, text))));
