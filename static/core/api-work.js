// The part of the server's HTTP interface that tasks and capabilities need.
// `ask(method, path, body)` is that of `api.js`.

/** The questions and orders of a person about tasks and capabilities. Orders answer `{ turn, conversation }`, see `orders.js`. */
export function workApi(ask) {
  const capability = (name) => `/api/capabilities/${encodeURIComponent(name)}`;
  const query = (fields) => {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined);
    return given.length > 0 ? `?${new URLSearchParams(given)}` : "";
  };
  return {
    /** Orders a new task: `title`, and if there are some `details` and `due_at`. */
    addTask: (fields) => ask("POST", "/api/tasks", fields),
    /** Orders a change of a task; an empty `due_at` takes the date away. */
    changeTask: (id, fields) => ask("PATCH", `/api/tasks/${encodeURIComponent(id)}`, fields),
    /** Orders that a task is deleted; as a rule the law asks first. */
    deleteTask: (id) => ask("DELETE", `/api/tasks/${encodeURIComponent(id)}`),
    /** The doings of the heartbeat, and the next task due. */
    heartbeat: () => ask("GET", "/api/heartbeat"),
    /** One version of a capability, whole; by default the live one. */
    capabilityVersion: (name, version) => ask("GET", capability(name) + query({ version })),
    /** The differences between two versions. */
    capabilityDiff: (name, from, to) => ask("GET", `${capability(name)}/diff${query({ from, to })}`),
    /** A version as a folder: file name → text. */
    exportCapability: (name, version) => ask("GET", `${capability(name)}/export${query({ version })}`),
    /** Makes it callable, or not callable any more. */
    enable: (name, enabled) => ask("POST", `${capability(name)}/${enabled ? "enable" : "disable"}`, {}),
    /** Orders a call of the live version. */
    callCapability: (name, args) => ask("POST", `${capability(name)}/call`, { arguments: args }),
    /** Runs the tests that are kept with a version. */
    testCapability: (name, version) => ask("POST", `${capability(name)}/test${query({ version })}`, {}),
    /** Makes an earlier version the live one. If it may do more, a person has to confirm what it may do. */
    rollBack: (name, version, confirmed = false) => ask("POST", `${capability(name)}/rollback`, { version, confirm_grants: confirmed }),
    /** Orders a capability from a folder, as `exportCapability` answers. */
    importCapability: (folder) => ask("POST", "/api/capabilities/import", folder),
    /** The capabilities that come with the program. */
    shipped: () => ask("GET", "/api/shipped"),
    /** Orders one of them. */
    install: (name) => ask("POST", `/api/shipped/${encodeURIComponent(name)}/install`, {}),
  };
}

/** A session whose `api` can ask them. */
export const withWork = (session) => ({ ...session, api: { ...workApi(session.api.ask), ...session.api } });
