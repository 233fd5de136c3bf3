// Runs before anything is painted, so that the page never shows a look that was not chosen, and
// begins the modules after the first paint: what is painted first needs none of them, and sixty
// files at once would hold up its style. No module: it must not wait.
{
  // The code that a conversation needs in which something was said. It is asked for beside all
  // else: found one after the other, by who names whom, these files would come late.
  // `tests/page/weight.test.mjs` says if a name is missing.
  const SAID = [
    ["chat", "answer turns retried markdown blocks formulas followed links view item-rows"],
    ["vendor", "dompurify-3.4.18.min marked-18.2.1.esm"],
    ["ui", "code"],
    ["chat", "message file-block cut-text thumbnails turn-foot steps step-words tool-card"],
    ["core", "approvals times numbers format visible"],
    ["ui", "exact said section table chart-data table-text details menu"],
  ];
  // The code of the page itself, and that of Chat with its style: the same holds of them.
  const SHELL = [
    ["shell", "index live router attention places shortcuts viewport who banners dock header rail"],
    ["core", "address session settings words workspace state-law lists api connection outbox store state-parts state-said state later dom"],
    ["words", "en"],
    ["ui", "button states icons"],
  ];
  const CHAT = [
    ["words", "en-chat"],
    ["chat", "index composer-data draft greetings row-elements composer conversations messages row-window grouping attachments"],
    ["core", "styles characters entries text images server-clock state-tasks state-todo"],
  ];
  const { src } = document.currentScript;
  const inChat = /^#?(chat\b.*)?$/.test(location.hash);
  // The main conversation, if something was said there.
  let said;
  try {
    const { theme, text, language, begun } = JSON.parse(localStorage.getItem("level3.settings") ?? "{}") ?? {};
    said = begun;
    const root = document.documentElement;
    if (theme) root.dataset.theme = theme;
    if (text) root.dataset.text = text;
    if (language) root.lang = language;
  } catch {
    // Nothing is kept here; the look is the system's.
  }
  const ask = (path, more) => document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href: new URL(`../${path}`, src), ...more }));
  const load = (more) => ([folder, names]) => {
    for (const name of names.split(" ")) ask(`${folder}/${name}.js`, more);
  };
  let isBegun = false;
  const begin = () => {
    if (isBegun) return;
    isBegun = true;
    import("./index.js");
    SHELL.forEach(load());
    if (!inChat) return;
    // The newest words, by the request with which Chat begins: they come beside the code.
    if (Number.isInteger(said) && !/\d/.test(location.hash)) ask("", { rel: "preload", as: "fetch", crossOrigin: "anonymous", href: `/api/conversations/${said}/frames?limit=400` });
    CHAT.forEach(load());
    for (const name of ["messages", "composer", "chat"]) ask(`chat/${name}.css`, { rel: "preload", as: "style" });
    if (said) SAID.forEach(load({ fetchPriority: "low" }));
  };
  addEventListener("DOMContentLoaded", () => {
    // A page out of sight has no frames.
    if (document.hidden) begin();
    document.addEventListener("visibilitychange", begin, { once: true });
    // There are no frames before the sheets are there, and the second one comes when the first has
    // been painted.
    requestAnimationFrame(() => requestAnimationFrame(begin));
  });
}
