// The part of the server's HTTP interface that Campaigns needs. `ask(method, path, body)` is that of `api.js`.

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
    /** Its leads, the best first. */
    campaignLeads: (id) => ask("GET", at(id, "leads")),
    /** All versions of an artifact, the oldest first. */
    artifactVersions: (id, type, key) => ask("GET", at(id, "artifacts", type, key)),
    /** Takes an approval context back. */
    revokeContext: (id, context) => ask("DELETE", at(id, "contexts", context)),
    /** The newest lines of a log, `audit` or `events`, the oldest first; of one kind, if one is named. */
    campaignLog: (id, log, kind = "", limit = 200) => ask("GET", `${at(id, "log")}?${new URLSearchParams({ log, limit, ...(kind && { kind }) })}`),
  };
}
