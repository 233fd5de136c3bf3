// Capabilities: what the assistant wrote for itself. A gallery of all, and for each one what it may
// do, a form to try it, its source, its versions and its tests.

import { withWork } from "../core/api-work.js";
import { h } from "../core/dom.js";
import { capabilityList } from "../core/entries.js";
import { styles } from "../core/styles.js";
import { onChange } from "../core/watch.js";
import { words } from "../core/words.js";
import { mainState, together } from "../core/workspace.js";
import { capabilityDetail } from "./detail.js";
import { backButton, gallery } from "./gallery.js";

let here;

/** Puts the capabilities into `host`. */
export async function mount(host, { session: given, go, announce, setTitle, setLead }) {
  const session = withWork(given);
  await styles(import.meta.url, "../ui/code.css", "../ui/entries.css", "../ui/fields.css", "capabilities.css");
  const gone = new AbortController();
  const { signal } = gone;
  const all = gallery({ session, announce, signal });
  const detail = capabilityDetail({ session, go, announce, signal });
  const sheet = h("div", { class: "sheet wide" }, all.node, detail.node);
  host.append(sheet);
  const show = (workspace) => {
    if (signal.aborted) return;
    const entries = capabilityList(together(workspace));
    all.show(entries, mainState(workspace).lists.capabilities);
    detail.told(entries);
  };
  const parts = ({ states }) => [...states.values()].flatMap((state) => [state.capabilities, state.lists.capabilities]);
  session.store.subscribe(onChange(parts, show));
  session.lists.load("capabilities");
  show(session.store.getState());
  here = { gone, all, detail, sheet, go, setTitle, setLead };
}

/** Shows what the address names: all of them, one, or a version of one (`roman/v2`). */
export function show([name, version] = []) {
  if (!here) return;
  const { all, detail, sheet, go, setTitle, setLead } = here;
  const was = detail.node.dataset.capability;
  all.node.hidden = name !== undefined;
  detail.node.hidden = name === undefined;
  sheet.scrollTop = 0;
  if (name === undefined) {
    detail.close();
    setTitle(words.places.capabilities);
    setLead(undefined);
    // A person who comes back is where they were.
    if (was) all.node.querySelector(`[data-capability="${CSS.escape(was)}"] a`)?.focus({ preventScroll: true });
    delete detail.node.dataset.capability;
    return;
  }
  setTitle(name);
  setLead(backButton(() => go("capabilities")));
  const [, number] = /^v(\d+)$/.exec(version ?? "") ?? [];
  if (version !== undefined && number === undefined) detail.nowhere();
  else detail.open(name, number === undefined ? undefined : Number(number));
}

/** Takes the capabilities out. */
export function unmount() {
  here?.gone.abort();
  here = undefined;
}
