// On a phone the keyboard covers the page: the page becomes as tall as what is still seen.

const KEYBOARD_PX = 150;

/** Keeps `--seen` on the root, and `data-keyboard` while a keyboard is open. */
export function fitKeyboard(view = globalThis.visualViewport, root = document.documentElement) {
  if (!view) return;
  const fit = () => {
    // A page that a person has zoomed is left alone.
    const covered = view.scale > 1.01 ? 0 : innerHeight - view.height;
    const isOpen = covered > KEYBOARD_PX;
    root.toggleAttribute("data-keyboard", isOpen);
    if (isOpen) root.style.setProperty("--seen", `${view.height}px`);
    else root.style.removeProperty("--seen");
  };
  view.addEventListener("resize", fit);
}
