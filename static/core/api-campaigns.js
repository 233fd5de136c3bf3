// The part of the server's HTTP interface that Campaigns needs. `ask(method, path, body)` is that
// of `api.js`.

/** The questions and orders of a person about campaigns. */
export function campaignsApi(ask) {
  const at = (...parts) => ["/api/campaigns", ...parts.map(encodeURIComponent)].join("/");
  return {
    /** All of them, the newest first. */
    campaigns: () => ask("GET", at()),
    /** Makes one of a name and tasks. */
    makeCampaign: (name, tasks) => ask("POST", at(), { name, tasks }),
    /** One, with its tasks, artifacts and approval contexts. */
    campaign: (id) => ask("GET", at(id)),
    /** Steers it: `start`, `pause`, `resume` or `copy`. */
    steerCampaign: (id, how) => ask("POST", at(id, how), {}),
    /** A deed with a task: `finish`, `block` or `unblock`. */
    changeCampaignTask: (id, task, deed, reason = "") => ask("POST", at(id, "tasks", task), { deed, reason }),
    /** Answers a question of a task. */
    answerCampaign: (id, task, question, answer) => ask("POST", at(id, "answer"), { task, question, answer }),
    /** Makes a task. */
    addCampaignTask: (id, task) => ask("POST", at(id, "tasks"), task),
    /** Its leads, the best first. */
    campaignLeads: (id) => ask("GET", at(id, "leads")),
    /** Imports leads from the text of a CSV file, all of it or nothing. */
    importLeads: (id, csv) => ask("POST", at(id, "leads"), { csv }),
    /** Gives a lead a status. */
    setLead: (id, lead, status) => ask("POST", at(id, "leads", "status"), { lead, status }),
    /** Keeps a version of an artifact, as a person's own. */
    keepArtifact: (id, artifact) => ask("POST", at(id, "artifacts"), artifact),
    /** All versions of an artifact, the oldest first. */
    artifactVersions: (id, type, key) => ask("GET", at(id, "artifacts", type, key)),
    /** Allows the next things of a kind until a time: `{ kind, type, count, until }`. */
    allowNext: (id, context) => ask("POST", at(id, "contexts"), context),
    /** Takes an approval context back. */
    revokeContext: (id, context) => ask("DELETE", at(id, "contexts", context)),
    /** Makes every cycle again from the events before it, and says where one differs. */
    verifyCampaign: (id) => ask("POST", at(id, "verify"), {}),
    /** The whole of it, from its `tables` or its `events`. */
    exportCampaign: (id, from) => ask("GET", `${at(id, "export")}?${new URLSearchParams({ from })}`),
    /** Removes the messages of its conversation. */
    forgetChat: (id) => ask("POST", at(id, "forget-chat"), {}),
    /** The newest lines of a log, `audit` or `events`, the oldest first; of one kind, if one is named. */
    campaignLog: (id, log, kind = "", limit = 200) => ask("GET", `${at(id, "log")}?${new URLSearchParams({ log, limit, ...(kind && { kind }) })}`),
    /** The kinds of lines that each log has: `{ audit, events }`. */
    campaignLogKinds: (id) => ask("GET", at(id, "log", "kinds")),
  };
}
