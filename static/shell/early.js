// Runs before anything is painted, so that the page never shows a look that was not chosen, and begins the modules after the first paint:
// what is painted first needs none of them, and sixty files at once would hold up its style. No module: it must not wait.
{
  try {
    const { theme, text, language } = JSON.parse(localStorage.getItem("level3.settings") ?? "{}") ?? {};
    const root = document.documentElement;
    if (theme) root.dataset.theme = theme;
    if (text) root.dataset.text = text;
    if (language) root.lang = language;
  } catch {
    // Nothing is kept here; the look is the system's.
  }
  addEventListener("DOMContentLoaded", () => {
    // Asked for twice, a module still runs once.
    const begin = () => import("./index.js");
    // A page out of sight has no frames.
    if (document.hidden) begin();
    document.addEventListener("visibilitychange", begin, { once: true });
    // There are no frames before the sheets are there, and the second one comes when the first has been painted.
    requestAnimationFrame(() => requestAnimationFrame(begin));
  });
}
