// The test phones: what a contact's phone holds, and a line to answer as the contact, to try Relay
// without an account anywhere.

import { relayApi } from "../core/api-relay.js";
import { createApi } from "../core/api.js";
import { h } from "../core/dom.js";
import { timeOfDay } from "../core/times.js";
import { wordsOf } from "../core/words.js";

/** Between two looks at the phone. */
const LOOK_MS = 1000;

const { loopback: said } = await wordsOf("loopback");
const api = relayApi(createApi().ask);
const at = (id) => document.getElementById(id);
/** The phone is named behind the `#`, so that two windows can hold two phones. */
const named = () => decodeURIComponent(location.hash.slice(1));
const phone = { address: named(), last: 0 };

function show() {
  document.title = `${said.title} · level3`;
  document.querySelector("h1").textContent = said.title;
  at("home").textContent = said.home;
  at("lead").textContent = said.lead;
  for (const [form, label, press] of [["choose", said.address, said.open], ["say", said.text, said.say]]) {
    at(form).querySelector("span").textContent = label;
    at(form).querySelector("button").textContent = press;
  }
  at("address").value = phone.address;
  at("address").placeholder = "+491701234567";
  at("say").hidden = phone.address === "";
}

function problem(error) {
  at("problem").replaceChildren(error ? error.message : "", error?.status === 401 ? h("a", { href: "/sign-in" }, ` ${said.signIn}`) : "");
}

async function look() {
  const mine = phone.address;
  if (mine === "" || document.hidden) return;
  try {
    const { messages } = await api.loopbackPhone(mine, phone.last);
    if (phone.address !== mine) return;
    problem(undefined);
    for (const { n, text, mine: own, at: when } of messages) {
      if (n <= phone.last) continue;
      phone.last = n;
      const row = h("li", { "data-mine": String(own) }, h("p", { dir: "auto" }, text), h("span", {}, own ? said.contact : said.agent, " ", h("time", { datetime: when }, timeOfDay(when))));
      at("messages").append(row);
      row.scrollIntoView({ block: "nearest" });
    }
  } catch (error) {
    problem(error);
  }
}

function take(address) {
  Object.assign(phone, { address, last: 0 });
  at("messages").replaceChildren();
  at("came").textContent = "";
  problem(undefined);
  show();
  look();
}

at("choose").addEventListener("submit", (event) => {
  event.preventDefault();
  const address = at("address").value.trim();
  history.replaceState(null, "", `#${encodeURIComponent(address)}`);
  take(address);
  at("text").focus();
});

at("say").addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = at("text").value;
  try {
    const { came, instance } = await api.loopbackSay(phone.address, text, crypto.randomUUID());
    at("text").value = "";
    at("came").textContent = came === "stranger" ? said.stranger : said.kept(instance);
    problem(undefined);
  } catch (error) {
    problem(error);
  }
  await look();
});

addEventListener("hashchange", () => named() !== phone.address && take(named()));
show();
look();
setInterval(look, LOOK_MS);
