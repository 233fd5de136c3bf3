// The part of the server's HTTP interface that Activity and Settings need.
// `ask(method, path, body)` is that of `api.js`.

/** The questions and changes of Activity and Settings. */
export function siteApi(ask) {
  const policy = (profile) => `/api/policy/${encodeURIComponent(profile)}`;
  const secret = (name) => `/api/secrets/${encodeURIComponent(name)}`;
  const mcp = (name) => `/api/mcp/${encodeURIComponent(name)}`;
  return {
    /** The page of events that fit; empty fields of the filter say nothing. */
    events: (filter) => ask("GET", `/api/events?${new URLSearchParams(Object.entries(filter).filter(([, value]) => value))}`),
    /** The page of conversations behind the place `after`. */
    conversations: (after) => ask("GET", `/api/conversations?${new URLSearchParams({ after })}`),
    /** A turn as it was recorded. */
    replay: (turn) => ask("GET", `/api/replay/turns/${encodeURIComponent(turn)}`),
    /** Mode, budgets, rules and models of a profile. */
    policy: (profile) => ask("GET", policy(profile)),
    /** Changes `mode`, `governor`, `budgets` or `models` of it; what is left out stays. */
    changePolicy: (profile, changes) => ask("PUT", policy(profile), changes),
    /** Sets the rule of a tool; `null` takes it away. */
    setRule: (profile, tool, rule) => ask("PUT", `${policy(profile)}/rules/${encodeURIComponent(tool)}`, { rule }),
    /** Sets a secret. The value goes to the server and stays nowhere here. */
    setSecret: (name, value) => ask("PUT", secret(name), { value }),
    /** Removes a secret. */
    removeSecret: (name) => ask("DELETE", secret(name)),
    /** The costs of models. */
    rates: () => ask("GET", "/api/rates"),
    /** Sets what a model costs; `null` forgets it. */
    setRate: (model, rate) => ask("PUT", `/api/rates/${encodeURIComponent(model)}`, rate),
    /** The settings of the server, with where each comes from. */
    settings: () => ask("GET", "/api/settings"),
    /** Changes settings from the next start on; `null` is the default. */
    changeSettings: (changes) => ask("PUT", "/api/settings", changes),
    /** The models there are. It asks every provider, which takes some seconds. */
    models: () => ask("GET", "/api/models"),
    /** Tries a model, by default the one that answers now. */
    testModel: (model) => ask("POST", "/api/models/test", model ? { model } : {}),
    /** Makes a backup on the server's machine. */
    backup: () => ask("POST", "/api/backup", {}),
    /** The check that events are as they were written, and that the tables follow from them. */
    checkRecords: () => ask("GET", "/api/replay/check"),
    /** The servers of external tools. */
    mcpServers: () => ask("GET", "/api/mcp"),
    /** The tools of one of them, as it was last listed. */
    mcpTools: (name) => ask("GET", `${mcp(name)}/tools`),
    /** Adds one, if it answers. */
    addMcp: (name, transport) => ask("PUT", mcp(name), transport),
    /** Asks it for its tools anew. */
    listMcp: (name) => ask("POST", `${mcp(name)}/tools`, {}),
    /** Removes it. */
    removeMcp: (name) => ask("DELETE", mcp(name)),
  };
}

/** A session whose `api` can ask them. */
export const withSite = (session) => ({ ...session, api: { ...siteApi(session.api.ask), ...session.api } });
