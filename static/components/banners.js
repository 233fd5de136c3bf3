// What a person should know before anything else: that this is the tour, that no model answers, that capabilities are not
// loaded, that the server cannot be reached.

import { h, keyed } from "../dom.js";

const code = (text) => h("code", {}, text);

const TEXTS = {
  tour: () => [
    h("strong", {}, "This is the built-in tour, not a language model."),
    h("span", { class: "long" }, " Everything it does is real, but it knows only a few things."),
    " For a real one set ",
    code("LLM_PROVIDER"),
    " and ",
    code("LLM_API_KEY"),
    " in ",
    code(".env"),
    " and start level3 again; or start Ollama or LM Studio, which is noticed by itself.",
  ],
  model: () => [
    h("strong", {}, "No model answers."),
    " The last turn ended without an answer; its error says why. The model is set with ",
    code("LLM_PROVIDER"),
    ", ",
    code("LLM_MODEL"),
    " and ",
    code("LLM_API_KEY"),
    " in ",
    code(".env"),
    "; then start level3 again. With none of them set, Ollama and LM Studio are found by themselves.",
  ],
  safe: () => [
    h("strong", {}, "Safe mode."),
    " The server crashed several times in a row, so it started without loading the capabilities. The four built-in tools work. " +
      "Ask for the capability you wrote last to be corrected, then for a full restart.",
  ],
  offline: () => [
    h("strong", {}, "The server cannot be reached."),
    " The page keeps trying. What you send now waits here and goes out by itself.",
  ],
};

/** `<l3-banners>`: `data = { hello, connection, model }`. */
export class Banners extends HTMLElement {
  set data({ hello, connection, model }) {
    const kinds = [];
    if (connection.status === "offline") kinds.push("offline");
    if (hello?.safe_mode) kinds.push("safe");
    if (hello?.model.kind === "tour") kinds.push("tour");
    else if (model.fails) kinds.push("model");
    const rows = kinds.map((kind) => ({ key: kind, kind }));
    keyed(this, rows, ({ kind }) =>
      h(
        "div",
        { class: "banner", "data-testid": "banner", "data-banner": kind, role: kind === "tour" ? "note" : "alert" },
        h("p", {}, TEXTS[kind]()),
      ),
    );
  }
}

customElements.define("l3-banners", Banners);
