// Runs before anything is painted, so that the page never shows a look that was not chosen, and
// begins the modules after the first paint: what is painted first needs none of them, and sixty
// files at once would hold up its style. No module: it must not wait.
{
  // The code of the page, asked for beforehand: found one after the other, by who names whom, these
  // files would come late. `tests/page/weight.test.mjs` says if a name is missing.
  const BASE = [
    ["core", "dom styles words settings"],
    ["words", "en en-chat"],
  ];
  // The reader of answers needs no more than that, and takes longest to begin.
  const READER = [
    ["vendor", "dompurify-3.4.18.min marked-18.2.1.esm"],
    ["chat", "markdown blocks formulas links"],
    ["ui", "code"],
  ];
  // The code of the page itself, and that of Chat.
  const SHELL = [
    ["shell", "index live router attention places shortcuts who banners dock header rail"],
    ["core", "address session workspace state-law lists api json connection outbox store state-parts state-said state later characters images server-clock state-tasks state-todo"],
    ["ui", "button states icons"],
  ];
  const CHAT = [
    ["chat", "index composer-data draft greetings row-elements composer conversations messages row-window grouping attachments"],
    ["core", "entries text"],
  ];
  // The code of rows, and that of steps, which come behind the others.
  const SAID = [
    ["chat", "answer turns retried followed view item-rows message file-block cut-text thumbnails turn-foot"],
    ["core", "approvals times numbers"],
  ];
  const STEPS = [
    ["chat", "steps step-words tool-card"],
    ["core", "format visible"],
    ["ui", "exact said section table chart-data table-text details menu"],
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
  const ask = (path, more) => {
    const link = Object.assign(document.createElement("link"), { rel: "modulepreload", href: new URL(`../${path}`, src), ...more });
    document.head.append(link);
    return link;
  };
  const load = (list) => list.flatMap(([folder, names]) => names.split(" ").map((name) => ask(`${folder}/${name}.js`))).at(-1);
  let isBegun = false;
  const begin = () => {
    if (isBegun) return;
    isBegun = true;
    // The newest words, by the request with which the page begins: they come beside the code.
    if (inChat && Number.isInteger(said) && !/\d/.test(location.hash)) ask("", { rel: "preload", as: "fetch", crossOrigin: "anonymous", href: `/api/conversations/${said}/frames?limit=400` });
    import("./index.js");
    load(BASE);
    if (!inChat || !said) return page();
    // Files that are asked for all at once come all at the end: so the first ones are at work while
    // the others come.
    import("../chat/markdown.js");
    load(READER).onload = page;
  };
  const page = () => {
    load(SHELL);
    if (!inChat) return;
    load(CHAT);
    const last = ["messages", "composer", "chat"].map((name) => ask(`chat/${name}.css`, { rel: "preload", as: "style" })).at(-1);
    if (said) last.onload = () => (load(SAID).onload = () => load(STEPS));
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
