// A place of thirty lines, for `example.test.mjs`: what anybody who adds one writes.

import { h } from "../core/dom.js";
import { openDetails } from "../ui/details.js";
import { button } from "../ui/button.js";

let here;

export function mount(host, { session, setTitle, go }) {
  const heading = h("h2", {}, "Nothing chosen");
  const count = h("p", { "data-testid": "example-count" });
  const open = button("Open", () => openDetails({ title: "An example", body: h("p", {}, "Its details.") }), { "data-testid": "example-open" });
  const next = button("Second", () => go("example", "second"), { "data-testid": "example-next" });
  host.append(h("div", { class: "sheet", "data-testid": "example" }, heading, count, open, next));
  const gone = new AbortController();
  const show = ({ states }) => gone.signal.aborted || (count.textContent = `${states.size} open`);
  session.store.subscribe(show);
  show(session.store.getState());
  here = { gone, heading, setTitle };
}

export function show([name]) {
  here.heading.textContent = name ? `Chosen: ${name}` : "Nothing chosen";
  here.setTitle(name ?? "Example");
}

export function unmount() {
  here.gone.abort();
}
