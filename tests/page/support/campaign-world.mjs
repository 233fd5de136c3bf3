// Campaigns as a server has them: one in each state, and one with tasks, leads, artifacts, contexts
// and logs. What a page asks for changes it.

import { PNG } from "./operator-world.mjs";

const MINUTE = 60_000;
/** The sha256 of the one picture whose bytes are there. */
const SEEN = "5e".repeat(32);
/** A line that is too old to stand among the newest ones. */
const OLD = [{ id: "file 1.1", timestamp: "2026-01-02T03:04:05Z", kind: "file read", payload: { turn: 1 } }];
const HOSTILE = "<img src=x onerror=alert(1)>\u202e";

/** The world: `{ answers, asked, campaigns, info }`. `at(ms)` is a time from now. */
export function campaignWorld(at) {
  const campaign = (id, status, name, more = {}) => ({
    ...{ id, conversation_id: 40 + id, name, status, reason: null, waits_for: null, next_at: null, cycles: 2, idle_cycles: 0, fault: null, bad_answers: 0, judged_step: null },
    ...{ carried: [], copy_of: null, created_at: at(-90 * MINUTE), updated_at: at(-MINUTE), ...more },
  });
  const campaigns = [
    campaign(4, "initializing", "Spring fair", { cycles: 0, copy_of: 2 }),
    campaign(3, "active", "Find twelve people who would like the flat", { waits_for: "task 2: the question tone waits for an answer", next_at: at(26 * 24 * 60 * MINUTE) }),
    campaign(2, "error", "Autumn fair", { reason: "the heuristic note version 1 does not fit its sha256" }),
    campaign(1, "completed", HOSTILE, { cycles: 9 }),
  ];
  const info = infoOf(at, campaigns[1]);
  const versions = [
    artifact(at, 1, "Good day,\nwould you like to see it?\nBest wishes"),
    artifact(at, 2, "Good day,\nwould you like to see the flat?\nBest wishes"),
  ];
  const asked = [];
  return { asked, campaigns, info, answers: answersOf({ asked, campaigns, campaign, info, versions, at }) };
}

const artifact = (at, version, content) => ({ id: version, campaign_id: 3, artifact_type: "message", artifact_key: "hello", version, source: version === 1 ? "user" : "agent", content, sha256: "ab", step_id: null, approval_id: null, created_at: at(-version * MINUTE) });

function infoOf(at, campaign) {
  const task = (id, status, description, more = {}, metadata = {}) => ({
    ...{ id, campaign_id: 3, description, status, created_at: at(-80 * MINUTE), updated_at: at(-MINUTE), unproven: [], hindrance: null, ...more },
    metadata: { preconditions: [], requires: [{ kind: "artifact_exists", type: "message", key: "hello" }], needs: [], why: null, reason: null, questions: [], evidence: [], ...metadata },
  });
  return {
    campaign,
    watched: true,
    tasks: [
      task(1, "done", "Keep a note", {}, { evidence: [{ effect: { kind: "artifact_exists", type: "heuristic", key: "note", min_version: 1 }, events: [12], calls: [4] }] }),
      task(2, "in_progress", `Draft a message ${HOSTILE}`, { unproven: ["the message hello is not kept"], hindrance: "the question tone waits for an answer" }, { questions: [{ question: "tone", text: "Formal or friendly?", answer: null }] }),
      task(5, "pending", "Look it over", {}, { requires: [] }),
      task(6, "blocked", "Send it", { unproven: ["no page of example.com was read"] }, { reason: "Not before Friday." }),
    ],
    leads: { new: 1, qualified: 1 },
    artifacts: [
      { type: "message", key: "hello", version: 2, sha256: "ab", source: "agent" },
      { type: "picture", key: "flat", version: 2, sha256: "cd", source: "agent" },
    ],
    contexts: [
      { id: 1, campaign_id: 3, kind: "persist", artifact_type: "message", uses_left: 3, until: at(60 * MINUTE), void: false, created_at: at(-MINUTE) },
      { id: 2, campaign_id: 3, kind: "task", artifact_type: null, uses_left: 2, until: at(60 * MINUTE), void: true, created_at: at(-MINUTE) },
    ],
  };
}

/** Both logs: a cycle that proved a task after a refusal, and one that is under way. */
function logsOf(at) {
  const line = (id, kind, payload, ago) => ({ id: String(id), timestamp: at(-ago * MINUTE), kind, payload });
  const events = [
    line(10, "cycle_asked", { turn: 7, number: 1, upto: 9, state_sha256: "aa", rules_sha256: "bb", request_sha256: "cc" }, 9),
    line(11, "proposal_refused", { turn: 7, step: 3, why: "two proposals; make exactly one", campaign: {} }, 8),
    line(12, "cycle_asked", { turn: 7, number: 2, upto: 11, state_sha256: "aa", rules_sha256: "bb", request_sha256: "dd" }, 8),
    line(13, "campaign_task_changed", { what: "is done", task: { id: 1, status: "done", metadata: { evidence: [{ effect: { kind: "artifact_exists", type: "heuristic", key: "note" }, events: [12], calls: [4] }] } } }, 7),
    line(14, "cycle_ended", { turn: 7, proposal: "persist_artifact", came: "kept the heuristic note", next: "next cycle", campaign: {} }, 7),
    line(15, "cycle_asked", { turn: 8, number: 1, upto: 14, state_sha256: "ee", rules_sha256: "bb", request_sha256: "ff" }, 1),
  ];
  const audit = [
    line("step 3", "model request", { turn: 7, step: 3, model: "llama3", finish_reason: "tool_calls" }, 8),
    line("call 4", "persist_artifact", { turn: 7, call: 4, verdict: "ask", outcome: "done", approval: 2, arguments: HOSTILE, refusal: null }, 7),
  ];
  return { events, audit };
}

function answersOf({ asked, campaigns, campaign, info, versions, at }) {
  const logs = logsOf(at);
  const told = { told: "Done." };
  const steer = (how, status) => () => {
    asked.push(how);
    if (how === "start") return { refused: 409, error: "campaign 4 cannot start yet:\n- no model answers" };
    return Object.assign(info.campaign, { status, waits_for: null });
  };
  const leads = [
    { id: 1, campaign_id: 3, full_name: "Ada Lovelace", profile_url: "https://example.com/ada", weight_score: 100, status: "qualified", attributes: { city: "London" }, scored: { key: "fit", version: 2, points: [{ rule: 1, weight: 80 }, { rule: 3, weight: 30 }], sum: 120 } },
    { id: 2, campaign_id: 3, full_name: HOSTILE, profile_url: "javascript:alert(1)", weight_score: 0, status: "new", attributes: {}, scored: null },
  ];
  const one = (each) => ({ ...info, tasks: [], leads: {}, artifacts: [], contexts: [], watched: false, campaign: each });
  const answers = {
    "GET /api/campaigns": () => ({ campaigns }),
    "POST /api/campaigns": ({ body }) => {
      asked.push(`make ${body.name} ${JSON.stringify(body.tasks)}`);
      if (body.tasks.some((task) => task.requires === "x")) return { refused: 400, error: "tasks[0].requires: expected a list" };
      campaigns.unshift(campaign(5, "initializing", body.name, { cycles: 0 }));
      return { id: 5 };
    },
    "/api/campaigns/3": () => info,
    "/api/campaigns/5": () => campaigns.filter(({ id }) => id === 5).map(one)[0],
    "/api/campaigns/5/leads": { leads: [] },
    "/api/campaigns/5/log": [],
    "/api/campaigns/5/log/kinds": { audit: [], events: [] },
    "/api/campaigns/4": one(campaigns[0]),
    "/api/campaigns/4/leads": { leads: [] },
    "/api/campaigns/4/log": [],
    "/api/campaigns/4/log/kinds": { audit: [], events: [] },
    "/api/campaigns/3/leads": { leads },
    "/api/campaigns/3/log": ({ search }) => {
      const kind = search.get("kind");
      if (kind === "file read") asked.push(`file read, ${search.get("log")}, ${search.get("limit")}`);
      if (kind) return [...logs[search.get("log")], ...OLD].filter((line) => line.kind === kind);
      return logs[search.get("log")];
    },
    "/api/campaigns/3/log/kinds": { audit: ["file read", "model request", "persist_artifact"], events: ["cycle_asked", "cycle_ended"] },
    "/api/campaigns/3/artifacts/message/hello": { versions },
    "/api/campaigns/3/artifacts/picture/flat": { versions: [SEEN, "00".repeat(32)].map((sha256, at) => ({ ...versions[1], artifact_type: "picture", artifact_key: "flat", version: at + 1, content: sha256 })) },
    [`/api/attachments/${SEEN}`]: { png: PNG },
    "POST /api/campaigns/4/start": steer("start"),
    "POST /api/campaigns/3/pause": steer("pause", "paused"),
    "POST /api/campaigns/3/resume": steer("resume", "active"),
    "POST /api/campaigns/3/cycle": steer("cycle", "active"),
    "POST /api/campaigns/3/copy": () => (asked.push("copy"), { id: 4 }),
    "POST /api/campaigns/3/answer": ({ body }) => {
      asked.push(`answer ${body.task} ${body.question} ${body.answer}`);
      Object.assign(info.tasks[1].metadata.questions[0], { answer: body.answer });
      return told;
    },
    "POST /api/campaigns/3/leads": ({ body }) => {
      asked.push(`import ${body.csv}`);
      if (!body.csv.startsWith("full_name,profile_url")) return { refused: 400, error: "nothing was imported. line 2: full_name is empty; line 5: profile_url is `ftp; x`; it begins with https:// or http://" };
      leads.push({ ...leads[0], id: 3, full_name: "Grace Hopper", status: "new", weight_score: 7, scored: null });
      return { told: "1 leads are new, 0 were changed." };
    },
    "POST /api/campaigns/3/leads/status": ({ body }) => {
      asked.push(`lead ${body.lead} ${body.status}`);
      if (body.status === "won") return { refused: 409, error: "a lead is won by itself" };
      leads.find(({ id }) => id === body.lead).status = body.status;
      return told;
    },
    "POST /api/campaigns/3/artifacts": ({ body }) => {
      asked.push(`keep ${body.type} ${body.key} ${body.content}`);
      if (body.key === "No") return { refused: 400, error: "key: has to be of small letters" };
      info.artifacts.push({ type: body.type, key: body.key, version: 1, sha256: "ab", source: "user" });
      return told;
    },
    "POST /api/campaigns/3/contexts": ({ body: { kind, type, count, until } }) => {
      asked.push(`allow ${kind} ${type} ${count}`);
      if (count > 50) return { refused: 400, error: `count: is ${count}; 1 to 50 can be allowed at once` };
      info.contexts.push({ id: 3, campaign_id: 3, kind, artifact_type: type ?? null, uses_left: count, until, void: false, created_at: at(0) });
      return told;
    },
    "POST /api/campaigns/3/tasks": ({ body }) => {
      asked.push(`task ${body.description}`);
      if (body.description === "") return { refused: 400, error: "description: is empty" };
      info.tasks.push({ ...info.tasks[2], id: 10 + asked.length, description: body.description });
      return told;
    },
    "POST /api/campaigns/3/verify": () => (asked.push("verify"), { requests: 3, broken: [], turn: null, differs: null, clean: asked.length > 1, ...(asked.length > 1 ? {} : { turn: 7, differs: "its rules are others" }) }),
    "/api/campaigns/3/export": ({ search }) => (asked.push(`export ${search.get("from")}`), { state: { campaign: info.campaign }, state_sha256: "c0ffee" }),
    "POST /api/campaigns/3/forget-chat": () => (asked.push("forget"), { told: "4 messages are forgotten." }),
    "DELETE /api/campaigns/3/contexts/1": () => (asked.push("revoke 1"), (info.contexts[0].void = true), told),
  };
  for (const task of info.tasks)
    answers[`POST /api/campaigns/3/tasks/${task.id}`] = ({ body: { deed, reason } }) => {
      asked.push(`${deed} ${task.id} ${reason}`.trim());
      Object.assign(task, { status: { finish: "done", block: "blocked", unblock: "pending" }[deed] });
      task.metadata.reason = reason || null;
      return told;
    };
  return answers;
}

/** The answers of a server that has no campaign. */
export const noCampaigns = { "GET /api/campaigns": { campaigns: [] }, "/api/campaigns/3": undefined };
