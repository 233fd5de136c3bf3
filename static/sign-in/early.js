// Runs before anything is painted, so that the page never shows a look that was not chosen. No
// module: it must not wait.
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
}
