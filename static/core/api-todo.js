// The part of the server's HTTP interface about Lea and Law, and about users.
// `ask(method, path, body)` is that of `api.js`.

/** The questions and orders of a person about to-dos, and those about themselves and other users. */
export function todoApi(ask) {
  const chat = (profile) => `/api/assistant/chat?${new URLSearchParams({ profile })}`;
  const user = (name) => `/api/users/${encodeURIComponent(name)}`;
  return {
    /** Begins the chat with a character anew; one that was never used is made. */
    beginAnew: (profile) => ask("DELETE", chat(profile)),
    /** Orders one of the twenty functions, in the conversation with this character. Answers `{ turn, conversation }`, see `orders.js`. */
    todo: (profile, name, args) => ask("POST", `/api/assistant/functions/${encodeURIComponent(name)}?${new URLSearchParams({ profile })}`, args),
    /** The tiers with their limits; `null` is no limit. */
    tiers: () => ask("GET", "/api/tiers"),
    /** Sets the limits of one. */
    setTier: (tier, limits) => ask("PUT", `/api/tiers/${encodeURIComponent(tier)}`, limits),
    /** The user who asks. */
    me: () => ask("GET", "/api/me"),
    /** Changes `display_name` or `time_zone` of them. */
    changeMe: (changes) => ask("PATCH", "/api/me", changes),
    /** Sets their password; `current` is asked of who has one. */
    setMyPassword: (password, current) => ask("PUT", "/api/me/password", { password, ...(current && { current }) }),
    /** The browsers in which they are signed in. */
    sessions: () => ask("GET", "/api/me/sessions"),
    /** Signs one of them out. */
    endSession: (id) => ask("DELETE", `/api/me/sessions/${encodeURIComponent(id)}`),
    /** Signs this one out. */
    signOut: () => ask("POST", "/api/me/sign-out", {}),
    /** All users, for the owner. */
    users: () => ask("GET", "/api/users"),
    /** Adds one; answers with a link that works once. */
    addUser: (fields) => ask("POST", "/api/users", fields),
    /** Changes `display_name`, `tier`, `time_zone` or `disabled` of one. */
    changeUser: (name, changes) => ask("PATCH", user(name), changes),
    /** A new link for one. */
    invite: (name) => ask("POST", `${user(name)}/invitation`, {}),
    /** Removes one with all that is theirs; `confirm` is the name, said again. */
    removeUser: (name, confirm) => ask("DELETE", `${user(name)}?${new URLSearchParams({ confirm })}`),
    /** A token for a program of theirs, shown once. */
    makeToken: (name) => ask("POST", `${user(name)}/tokens`, {}),
    /** Takes the tokens of one away. */
    revokeTokens: (name) => ask("DELETE", `${user(name)}/tokens`),
  };
}

/** A session whose `api` can ask them. */
export const withTodo = (session) => ({ ...session, api: { ...todoApi(session.api.ask), ...session.api } });
