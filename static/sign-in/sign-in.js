// A person says who they are: by name and password, or by a link that lets them choose a password
// once. The secret of the link stands behind the `#`, which no browser sends.

import { words } from "./words.js";

const SHORTEST = 12;
const LONGEST = 128;

const at = (id) => document.getElementById(id);
const form = document.querySelector("form");
const button = form.querySelector("button");
/** The address of a place stands behind the `#` as well; one comes back to it. */
const secret = /^#([0-9a-f]{16,})$/.exec(location.hash)?.[1] ?? "";
const home = secret ? "/" : `/${location.hash}`;

/** Puts the words in, and shows what is asked. */
function show() {
  at("heading").textContent = secret ? words.newPassword : words.signIn;
  at("lead").textContent = words.newLead;
  at("lead").hidden = !secret;
  at("name-field").hidden = Boolean(secret);
  at("name").required = !secret;
  at("again-field").hidden = !secret;
  at("again").required = Boolean(secret);
  if (secret) at("password").autocomplete = "new-password";
  for (const [field, said] of [["name-field", words.name], ["password-field", words.password], ["again-field", words.again]]) {
    at(field).querySelector("span").textContent = said;
  }
  button.textContent = secret ? words.set : words.signIn;
  document.title = `${at("heading").textContent} · level3`;
  form.hidden = false;
  (secret ? at("password") : at("name")).focus();
}

/** The reason for which nothing is sent; empty if it can be. */
function wrong() {
  if (!secret) return "";
  const length = [...at("password").value].length;
  if (length < SHORTEST || length > LONGEST) return words.length;
  return at("password").value === at("again").value ? "" : words.differ;
}

/** The reason for a refusal, in the language of the page; what it has no words for, in the server's. */
async function refused(answer) {
  if (answer.status === 401) return secret ? words.over : words.wrong;
  if (answer.status === 429) return words.wait(Math.ceil(Number(answer.headers.get("retry-after") ?? 60) / 60));
  return (await answer.json()).error ?? words.unreachable;
}

async function send() {
  const said = wrong();
  at("said").textContent = said;
  if (said) return;
  button.disabled = true;
  const password = at("password").value;
  const [path, body] = secret ? ["/sign-in/password", { secret, password }] : ["/sign-in", { name: at("name").value, password }];
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.ok) {
      // The tab may have been somebody else's.
      globalThis.sessionStorage?.removeItem("level3.role");
      // `replace`: the link, which works no more, does not stay in the history.
      location.replace(home);
      return;
    }
    at("said").textContent = await refused(answer);
  } catch {
    at("said").textContent = words.unreachable;
  }
  button.disabled = false;
  at("password").select();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});

// A link that is pasted here changes only what stands behind the `#`, and loads nothing by itself.
addEventListener("hashchange", () => location.reload());

// A link from elsewhere comes without the cookie, so the server sends also those here who are in.
const isIn = !secret && (await fetch("/api/me").catch(() => undefined))?.ok;
if (isIn) location.replace(home);
else show();
