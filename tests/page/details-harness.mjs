// Runs in the browser, for `details.test.mjs`: opens details in a frame that is wide, narrow and
// wide again, and looks at what came of it.

const STYLES = ["tokens.css", "shell/base.css", "ui/ui.css", "shell/shell.css"];
const WIDE = 1440;
const NARROW = 700;

const frame = document.createElement("iframe");
frame.width = WIDE;
frame.height = 600;
const loaded = new Promise((resolve) => (frame.onload = resolve));
const links = STYLES.map((file) => `<link rel=stylesheet href="/${file}">`).join("");
frame.srcdoc = `<!doctype html><html lang=en>${links}<body><l3-rail></l3-rail><div class=area><main><section class=place tabindex=-1>
  <button id=first>First</button><button id=second>Second</button></section></main></div>
  <script type=module>import * as details from "/ui/details.js"; window.details = details;</script></html>`;
document.body.append(frame);
await loaded;
const page = frame.contentWindow;
const { document: inside } = page;
const { openDetails, closeDetails } = page.details;
const pane = () => inside.querySelector(".details");
const of = (id) => inside.getElementById(id);
const text = (words) => Object.assign(inside.createElement("p"), { textContent: words });
const escape = () => {
  const event = new page.KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true });
  inside.activeElement.dispatchEvent(event);
  return event;
};
const settled = () => new Promise((resolve) => page.requestAnimationFrame(() => page.requestAnimationFrame(resolve)));
const resize = async (width) => {
  const changed = new Promise((resolve) => page.addEventListener("resize", resolve, { once: true }));
  frame.width = width;
  await changed;
  await settled();
};

async function tried() {
  const checks = {};
  const closed = [];
  const open = (id, title) => {
    of(id).focus();
    openDetails({ title, body: text(`${title} in words`) }).addEventListener("details-closed", () => closed.push(title));
  };

  open("first", "A call");
  checks.beside_the_place_it_is_no_modal = pane().open && !pane().matches(":modal");
  const place = inside.querySelector(".place").getBoundingClientRect();
  checks.it_stands_beside_the_place_and_covers_nothing_of_it = place.right <= pane().getBoundingClientRect().left && place.width > 0;
  checks.it_is_24_to_32_rem_wide = pane().offsetWidth >= 384 && pane().offsetWidth <= 512;
  checks.its_title_has_the_focus_and_names_it = inside.activeElement.textContent === "A call" && pane().getAttribute("aria-labelledby") === inside.activeElement.id;

  openDetails({ title: "Its version", body: text("Within") }).addEventListener("details-closed", () => closed.push("Its version"));
  checks.there_is_one_pane = inside.querySelectorAll(".details").length === 1 && closed.join() === "A call";
  checks.escape_is_taken = escape().defaultPrevented;
  checks.escape_closes_it = pane() === null && closed.join() === "A call,Its version";
  checks.the_focus_goes_back_to_where_the_first_was_opened = inside.activeElement === of("first");
  checks.without_it_escape_is_left_alone = !escape().defaultPrevented;

  open("second", "A task");
  of("first").focus();
  closeDetails();
  checks.a_focus_elsewhere_stays_there = inside.activeElement === of("first");

  open("second", "Narrow");
  await resize(NARROW);
  checks.in_a_narrow_window_it_lies_over_the_place = pane().matches(":modal");
  checks.it_is_the_same_pane_with_the_same_focus = inside.activeElement.textContent === "Narrow" && !closed.includes("Narrow");
  checks.it_leaves_something_to_press_beside_it = pane().offsetWidth < NARROW && Math.abs(pane().getBoundingClientRect().right - NARROW) < 1;
  await resize(390);
  checks.on_a_phone_it_is_the_whole_screen = pane().offsetWidth === 390 && pane().offsetHeight === page.innerHeight;
  const back = pane().querySelector(".details-back");
  checks.on_a_phone_there_is_a_way_back_and_no_cross = back.offsetWidth > 0 && pane().querySelector(".details-close").offsetWidth === 0;
  back.click();
  checks.back_closes_it = pane() === null && inside.activeElement === of("second");
  await resize(WIDE);

  open("second", "Gone");
  of("second").remove();
  escape();
  checks.without_its_button_the_focus_goes_to_the_place = inside.activeElement.className === "place";
  return { checks };
}

const result = await tried().catch((error) => ({ failure: String(error.stack) }));
await fetch("/report", { method: "POST", body: JSON.stringify(result) });
