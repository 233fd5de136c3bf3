// Fills a server by its HTTP interface, as a person and their contacts do, so that Relay, Operator
// and Campaigns have something to show.

const OWNER = "+491701234567";
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const LONGEST_MS = 60_000;
/** A zone in which it is about noon: at night nothing is sent to people. */
function noonZone(hour = new Date().getUTCHours()) {
  const ahead = 12 - hour;
  return ahead === 0 ? "UTC" : `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`;
}

/** Asks a server: `ask(method, path, body)`; what is refused throws. */
function asker(address) {
  return async (method, path, body) => {
    const response = await fetch(new URL(path, address), { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${answer.error}`);
    return answer;
  };
}

/** Waits until `look()` gives something. */
async function until(what, look) {
  for (const end = Date.now() + LONGEST_MS; Date.now() < end; await wait(100)) {
    const found = await look();
    if (found) return found;
  }
  throw new Error(`${what} did not happen`);
}

/** Two conversations with people outside; the tour plays the agent. */
export async function fillRelay(address) {
  const ask = asker(address);
  const said = async (id, count) => until(`message ${count} of the agent`, async () => (await ask("GET", `/api/relay/instances/${id}/transcript`)).messages.filter(({ said_by: by }) => by === "agent").length >= count);
  const [contact, zone] = ["+491705550101", noonZone()];
  const { id } = await ask("POST", "/api/relay/instances", { objective: "Arrange a viewing of the flat", contact, todos: ["Ask for a time", "Confirm the address"], channel: "loopback", time_zone: zone });
  await said(id, 1);
  await ask("POST", "/api/relay/loopback", { address: contact, text: "Friday at three would be fine." });
  await said(id, 2);
  await until("the second message's arrival", async () => (await ask("GET", `/api/relay/instances/${id}/transcript`)).messages.every(({ delivery }) => delivery !== "queued" && delivery !== "sending"));
  const other = await ask("POST", "/api/relay/instances", { objective: "Remind Ana of the keys", contact: "+491705550102", todos: ["Ask when she brings them"], channel: "loopback", time_zone: zone });
  await said(other.id, 1);
  await ask("POST", `/api/relay/instances/${other.id}/pause`);
  return { relay_instance: `#relay/${id}` };
}

/** Orders to the operator from its number, one of which waits for a confirmation first. */
export async function fillOperator(address) {
  const ask = asker(address);
  const tasks = async () => (await ask("GET", "/api/operator/tasks")).tasks;
  const order = async (text, count) => {
    await ask("POST", "/api/relay/loopback", { address: OWNER, text });
    return until(`the end of ${text}`, async () => {
      const all = await tasks();
      return all.length >= count && ["COMPLETED", "ABORTED", "AWAITING_CONFIRMATION"].includes(all[0].state) && all[0];
    });
  };
  await order("Which scripts are there?", 1);
  const task = await order("Write one that doubles a number, and try it with 21", 2);
  if (task.approval) {
    await ask("POST", `/api/approvals/${task.approval}/approve`);
    await until("the task's end", async () => (await tasks())[0].state === "COMPLETED");
  }
  await ask("PUT", "/api/operator/context", { version: 0, document: { project: "flat", scripts: ["double"] } });
  return { operator_task: `#operator/${task.id}` };
}

const LEADS = `full_name,profile_url,title,city
Ada Lovelace,https://example.com/ada,CTO,London
Grace Hopper,https://example.com/grace,Rear admiral,New York
Karl Nolte,https://example.com/karl,Head of IT,Berlin
Mia Sommer,https://example.com/mia,Founder,Berlin
`;
const SCORING = { base: 0, rules: [{ attribute: "title", contains: "CTO", weight: 60 }, { attribute: "city", equals: "Berlin", weight: 40 }, { attribute: "title", contains: "founder", weight: 50 }], min: 0, max: 80 };

/** A campaign with a cycle that was approved, and a question that waits. */
export async function fillCampaigns(address) {
  const ask = asker(address);
  const tasks = [
    { description: "Agree on a tone", requires: [{ kind: "artifact_exists", type: "heuristic", key: "tone" }] },
    { description: "Draft a message to the best leads", requires: [{ kind: "artifact_exists", type: "message", key: "hello" }], preconditions: [{ kind: "task_done", nth: 1 }] },
    { description: "Read the drafts once more" },
  ];
  const { id } = await ask("POST", "/api/campaigns", { name: "Find somebody for the flat", tasks });
  const at = (path) => `/api/campaigns/${id}${path}`;
  await ask("POST", at("/leads"), { csv: LEADS });
  await ask("POST", at("/artifacts"), { type: "lead_scoring_config", key: "score", content: JSON.stringify(SCORING, null, 2) });
  await ask("POST", at("/artifacts"), { type: "message", key: "reminder", content: "Good day,\nwould you like to see it?\nBest wishes" });
  await ask("POST", at("/artifacts"), { type: "message", key: "reminder", content: "Good day,\nwould you like to see the flat?\nBest wishes" });
  await ask("POST", at("/leads/status"), { lead: 1, status: "qualified" });
  await ask("POST", at("/contexts"), { kind: "persist", type: "message", count: 3, until: new Date(Date.now() + 3 * 3_600_000).toISOString() });
  await ask("POST", at("/start"));
  await ask("POST", at("/present"));
  const approval = await until("a proposal", async () => (await ask("GET", "/api/approvals?state=pending")).approvals[0]);
  await ask("POST", `/api/approvals/${approval.id}/approve`);
  await until("a question", async () => {
    await ask("POST", at("/present"));
    const [next] = (await ask("GET", "/api/approvals?state=pending")).approvals;
    if (next) await ask("POST", `/api/approvals/${next.id}/approve`);
    return (await ask("GET", at(""))).tasks.some(({ metadata }) => metadata.questions?.length > 0);
  });
  await ask("POST", "/api/campaigns", { name: "Spring fair", tasks: [{ description: "Write the invitation" }] });
  return { campaign: `#campaigns/${id}` };
}
