// A section of the side panel that a person opens when they want it, and that asks for what it shows only then.

import { h, icon } from "../dom.js";

const ARROW = "M7.5 5l5 5-5 5";

/** A `<details>` with `title`; says `list-opened` (detail: `kind`) when it opens. */
export function panelSection(kind, title, ...children) {
  const section = h(
    "details",
    { class: "panel-section", "data-testid": kind },
    h("summary", {}, icon(ARROW), h("h2", {}, title)),
    h("div", { class: "panel-section-body" }, children),
  );
  section.addEventListener(
    "toggle",
    () => section.open && section.dispatchEvent(new CustomEvent("list-opened", { bubbles: true, detail: kind })),
  );
  return section;
}

/** A paragraph for what went wrong, empty and hidden until `say` fills it. */
export function problemLine() {
  const line = h("p", { class: "problem", role: "alert", hidden: true });
  const say = (text) => {
    line.hidden = !text;
    if (line.textContent !== (text ?? "")) line.textContent = text ?? "";
  };
  return { line, say };
}

/** A button that runs `action`, cannot be pressed twice meanwhile, and says with `say` what went wrong. */
export function actionButton(text, className, say, action) {
  const button = h("button", { type: "button", class: className }, text);
  button.addEventListener("click", async () => {
    button.disabled = true;
    say(undefined);
    try {
      await action();
    } catch (error) {
      say(error.message);
    }
    button.disabled = false;
  });
  return button;
}
