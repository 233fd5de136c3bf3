// Events of all conversations as sentences, the newest first, with filters.

import { addressOf } from "../core/address.js";
import { h } from "../core/dom.js";
import { localTime, timeOfDay, writer } from "../core/times.js";
import { words } from "../core/words.js";
import { mainState } from "../core/workspace.js";
import { button } from "../ui/button.js";
import { exactNodes } from "../ui/exact.js";
import { filterBar } from "../ui/filters.js";
import { saidNodes } from "../ui/said.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";
import { toast } from "../ui/toast.js";
import { sentenceOf } from "./sentences.js";
import { said } from "./words.js";

const wholeDay = writer({ dateStyle: "full" });
const FIRST_TOOLS = ["execute_sql", "write_capability", "manage_tasks", "restart"];
/** The choice that offers more conversations. */
const MORE = "more";

/** The question to the server for the values of the filters; days are the reader's. */
export function queryOf({ from, to, ...rest }) {
  const midnight = (day, days) => {
    const [year, month, date] = day.split("-").map(Number);
    return new Date(year, month - 1, date + days).toISOString();
  };
  return { ...rest, from: from && midnight(from, 0), to: to && midnight(to, 1) };
}

/** The view; it ends with the signal `gone`. */
export function eventsView({ session, announce, gone }) {
  const list = h("ol", { class: "events", "data-testid": "events" });
  const place = h("div", {});
  const news = button(said.news, () => load(), { kind: "quiet", hidden: true, "data-testid": "events-news" });
  const more = button(said.more, () => load(next), { hidden: true });
  const filters = filterBar({ label: said.filters, fields: fieldsOf(), clear: said.clear, changed: chose });
  let next;
  let asked = 0;
  let day;
  let seen;

  async function load(before) {
    asked += 1;
    const mine = asked;
    if (!before) {
      list.replaceChildren();
      place.replaceChildren(waitingFor(() => load()));
      [day, next, more.hidden, news.hidden] = [undefined, undefined, true, true];
    }
    try {
      const page = await session.api.events({ ...queryOf(filters.values()), before });
      if (mine !== asked || gone.aborted) return;
      next = page.next ?? undefined;
      more.hidden = next === undefined;
      place.replaceChildren();
      for (const each of page.events) put(each);
      if (list.children.length === 0) place.replaceChildren(nothing());
      if (before) announce(said.more);
    } catch (error) {
      if (mine !== asked || gone.aborted) return;
      place.replaceChildren(errorState(error.message, () => load(before)));
    }
  }

  function nothing() {
    const all = Object.values(filters.values()).every((value) => value === "");
    return all ? emptyState(said.empty, said.emptyHelp) : emptyState(said.none, said.noneHelp);
  }

  /** Adds an event, and before it the day, where another begins. */
  function put(event) {
    const own = wholeDay(new Date(event.at));
    if (own !== day) list.append(h("li", { class: "event-day" }, h("h2", {}, own)));
    day = own;
    list.append(eventRow(event, titleOf));
  }

  let named;
  /** The conversations of further pages, and the place behind these: `null` at the end of the list. */
  let further = [];
  let behind;
  let chosen = "";
  const firstPage = () => mainState(session.store.getState()).lists.conversations?.entries ?? {};
  const listed = () => {
    const known = new Set();
    return [...(firstPage().conversations ?? []), ...further].filter(({ id }) => !known.has(id) && known.add(id));
  };
  const placeBehind = () => (behind === undefined ? firstPage().next : behind);
  const titleOf = (id) => listed().find((each) => each.id === id)?.title || words.dock.conversation(id);

  /** A filter is another one. One of the choices only offers more conversations, and changes nothing. */
  async function chose(values) {
    if (values.conversation !== MORE) {
      chosen = values.conversation;
      // It stays a choice if it leaves the first page.
      further = [...further, ...listed().filter(({ id }) => String(id) === chosen)];
      load();
      return;
    }
    filters.set({ ...values, conversation: chosen });
    try {
      const page = await session.api.conversations(placeBehind());
      further = [...further, ...page.conversations];
      behind = page.next ?? null;
      if (!gone.aborted) name();
    } catch (error) {
      if (!gone.aborted) toast(error.message);
    }
  }

  /** Titles come after the events, or change. */
  function name() {
    const last = placeBehind() ? [[MORE, said.moreConversations]] : [];
    filters.offer("conversation", [["", said.anyConversation], ...listed().map(({ id }) => [String(id), titleOf(id)]), ...last]);
    for (const link of list.querySelectorAll("[data-conversation]")) link.textContent = titleOf(Number(link.dataset.conversation));
  }

  function told(workspace) {
    const { hello, lists } = mainState(workspace);
    if (lists.conversations !== named) {
      named = lists.conversations;
      name();
    }
    if (!hello) return;
    // Everything before the greeting's number is history.
    const mark = [...workspace.states.values()].reduce((sum, { lastSeq, hello: own }) => sum + Math.max(lastSeq, own?.last_seq ?? 0), 0);
    // Events that are read stay where they are; a person asks for new ones.
    if (seen !== undefined && mark > seen) news.hidden = false;
    seen = mark;
  }

  const capabilities = mainState(session.store.getState()).lists.capabilities?.entries ?? [];
  filters.offer("tool", [...FIRST_TOOLS, ...capabilities.map(({ name }) => name)].map((name) => [name, name]));
  session.store.subscribe(told, gone);
  told(session.store.getState());
  load();
  return h("div", {}, filters.node, news, list, place, more);
}

function fieldsOf() {
  const { all, done, failed } = said.outcomes;
  return [
    { name: "kind", label: said.kind, options: [["", said.everything], ...Object.entries(said.kinds)] },
    { name: "tool", label: said.tool, type: "text", hint: said.anyTool },
    { name: "outcome", label: said.outcome, options: [["", all], ["done", done], ["failed", failed]] },
    { name: "conversation", label: said.conversation, options: [["", said.anyConversation]] },
    { name: "from", label: said.from, type: "date" },
    { name: "to", label: said.to, type: "date" },
  ];
}

function eventRow(listed, titleOf) {
  const { at, turn, profile, said: told, event } = listed;
  const { said: sentence, text, tone, limit } = sentenceOf(event, told, profile);
  const foot = h("p", { class: "event-foot" }, wayTo(listed, titleOf));
  if (turn) foot.append(" · ", h("a", { href: addressOf("activity", "turn", String(turn)), "aria-label": said.stepsOf(turn) }, said.steps));
  return h(
    "li",
    { class: "event", "data-kind": event.kind, "data-tone": tone },
    h("time", { datetime: at, title: localTime(at) }, timeOfDay(at)),
    h("div", {}, h("p", { class: "event-said", dir: "auto" }, saidNodes(sentence)), text ? h("p", { class: "event-text", dir: "auto" }, exactNodes(text)) : "", limit ? limitLink(limit, profile) : "", foot),
  );
}

/** The way to where it happened. The conversation of an `instance` of Relay is no chat of a person: its contact is written to there. */
function wayTo({ conversation, instance }, titleOf) {
  if (instance !== undefined) return h("a", { href: addressOf("relay", String(instance)) }, `${words.places.relay} ${instance}`);
  return h("a", { href: addressOf("chat", String(conversation)), dir: "auto", "data-conversation": String(conversation) }, titleOf(conversation));
}

/** The way to the limit that ended a turn of this profile. */
export function limitLink(limit, profile) {
  return h("p", {}, h("a", { class: "button", href: addressOf("settings", "budgets", limit, profile), "data-testid": "raise-limit" }, said.raise));
}
