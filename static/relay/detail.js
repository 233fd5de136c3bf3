// One instance: its state and how it is steered, its to-dos, everything that was said, and a line
// to say something as the agent.

import { h, keyed } from "../core/dom.js";
import { oneAtATime } from "../core/one-at-a-time.js";
import { shortTime } from "../core/times.js";
import { button } from "../ui/button.js";
import { ask } from "../ui/dialog.js";
import { exactNodes } from "../ui/exact.js";
import { problemLine } from "../ui/section.js";
import { errorState, waitingFor } from "../ui/states.js";
import { takeOver } from "./compose.js";
import { makeMessage, messageRow } from "./message.js";
import { steps } from "./rows.js";
import { relay as said } from "./words.js";

/** Messages of one answer. */
const PAGE = 500;

/** The detail: `{ node, open(id), load(), close() }`. */
export function instanceDetail({ api, storage, signal, announce, setTitle }) {
  const node = h("div", { class: "relay-detail", "data-testid": "relay-detail" });
  let shown;

  /** Shows an instance, from its beginning. */
  function open(id) {
    if (shown?.id === id) return load();
    const parts = makeParts({ api, id, storage, announce, changed: () => load() });
    shown = { id, parts };
    node.replaceChildren(parts.problem, waitingFor(() => load()));
    return load();
  }

  const load = oneAtATime(async () => {
    const mine = shown;
    if (!mine) return;
    try {
      const [instance, messages] = await Promise.all([api.relayInstance(mine.id), transcriptOf(api, mine.id)]);
      if (signal.aborted || shown !== mine) return;
      mine.parts.show(instance, messages);
      setTitle(instance.contact);
      if (!mine.isShown) node.replaceChildren(mine.parts.problem, mine.parts.node);
      if (mine.state && mine.state !== instance.state) announce(said.now(said.states[instance.state] ?? instance.state));
      Object.assign(mine, { isShown: true, state: instance.state });
      mine.parts.problem.replaceChildren();
    } catch (error) {
      if (signal.aborted || shown !== mine) return;
      node.querySelector(".skeleton")?.remove();
      mine.parts.problem.replaceChildren(errorState(said.missing(mine.id, error.message), load));
    }
  });

  const close = () => {
    shown = undefined;
    node.replaceChildren();
  };
  return { node, open, load, close };
}

async function transcriptOf(api, id) {
  const messages = [];
  for (let more = true; more; ) {
    const page = await api.relayTranscript(id, messages.at(-1)?.seq ?? 0, PAGE);
    messages.push(...page.messages);
    more = page.more && page.messages.length > 0;
  }
  return messages;
}

function makeParts({ api, id, storage, announce, changed }) {
  const head = h("div", { class: "relay-head" });
  const about = h("dl", { class: "relay-about" });
  const todos = h("ul", { class: "relay-todos", "data-testid": "relay-todos" });
  const messages = h("div", { class: "relay-messages", role: "list", "aria-label": said.transcript, "data-testid": "relay-transcript" });
  const nothing = h("p", { class: "none" }, said.noTranscript);
  const noTodos = h("p", { class: "none" }, said.noTodos);
  const { line, say } = problemLine();
  const compose = takeOver({ api, id, storage, announce, changed });
  const problem = h("div", {});
  const node = h("div", {}, head, line, about, h("h2", {}, said.todos), noTodos, todos, h("h2", {}, said.transcript), nothing, messages, compose.node);

  async function steer(how) {
    say(undefined);
    try {
      await api.relaySteer(id, how);
    } catch (error) {
      say(error.message);
    }
    await changed();
  }
  const cancel = () => ask({ title: said.cancelTitle, text: said.cancelText, yes: said.cancelYes, kind: "danger", action: async () => (await api.relaySteer(id, "cancel"), changed()) });

  function show(instance, all) {
    const part = head.contains(document.activeElement) ? document.activeElement.dataset.part : undefined;
    const { state, paused_from: from, reason } = instance;
    const word = h("span", { class: "relay-state", "data-state": state, "data-testid": "relay-state" }, said.states[state] ?? state);
    const why = [from && said.pausedFrom(said.states[from] ?? from), reason].filter(Boolean).join(" · ");
    const deeds = steps(instance).map((how) => button(said[how], how === "cancel" ? cancel : () => steer(how), { kind: how === "cancel" ? "danger" : "plain", "data-part": how, "data-testid": `relay-${how}` }));
    head.replaceChildren(h("p", { class: "relay-head-line" }, said.instance(id), word, why ? h("span", { class: "relay-note", dir: "auto" }, exactNodes(why)) : ""), h("p", { class: "relay-objective", dir: "auto" }, exactNodes(instance.objective)), h("div", { class: "relay-deeds" }, deeds));
    if (part) (head.querySelector(`[data-part="${part}"]`) ?? head.querySelector("button"))?.focus();
    about.replaceChildren(...figures(instance).flatMap(([name, value]) => [h("dt", {}, name), h("dd", { dir: "auto" }, exactNodes(value))]));
    todos.replaceChildren(...instance.todos.map(({ text, status }) => h("li", { "data-status": status }, h("span", { class: "relay-todo-status" }, said.todoStatus[status] ?? status), h("span", { dir: "auto" }, exactNodes(text)))));
    noTodos.hidden = instance.todos.length > 0;
    nothing.hidden = all.length > 0;
    keyed(messages, all.map((message) => messageRow(message)), makeMessage);
    compose.show(instance);
  }
  return { node, problem, show };
}

/** The other facts about an instance, by name. */
function figures(instance) {
  const { contact, channel, time_zone: zone, follow_ups: count, max_follow_ups: most, next_heartbeat_at: next, created_at: made, ended_at: ended, key } = instance;
  const all = [
    [said.with, contact],
    [said.channel, said.channelNames[channel] ?? channel],
    [said.zone, zone],
    [said.followUps, said.followUpsOf(count, most)],
    [said.next, next && shortTime(next)],
    [said.made, shortTime(made)],
    [said.endedAt, ended && shortTime(ended)],
    [said.key, key],
  ];
  return all.filter(([, value]) => value);
}
