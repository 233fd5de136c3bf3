// Goes to the place that the address names: loads it, puts it into the page, and takes the last one
// out.

import { addressOf, parseAddress } from "../core/address.js";
import { h } from "../core/dom.js";
import { reasonOf, words } from "../core/words.js";
import { button } from "../ui/button.js";
import { emptyState, errorState, waitingFor } from "../ui/states.js";

/**
 * A router over `places()` into `host`. `context` goes to each place; `arrived(place)` is told each time. `instead(place, parts)` may give the address
 * of what stands elsewhere.
 */
export function createRouter({ places, host, context, arrived, instead = () => undefined }) {
  const kept = new Map();
  let current;
  let going = 0;
  /** The first place: where one is without an address. */
  const home = () => places().find(({ under }) => !under);

  const go = (place, ...parts) => {
    const address = addressOf(place, ...parts);
    if (location.hash === address) arrive();
    else location.hash = address;
  };

  /** Goes to the place of the address. The focus, if it is in the place that is left, goes along. */
  function arrive() {
    const left = current?.node;
    const had = left?.contains(document.activeElement);
    const shown = come();
    if (had && current?.node !== left) current?.node.focus();
    return shown;
  }

  async function come() {
    const { place: id, parts } = parseAddress(location.hash);
    const elsewhere = instead(id, parts);
    if (elsewhere) {
      go(...elsewhere);
      return;
    }
    const place = id === "" ? home() : places().find((each) => each.id === id);
    going += 1;
    const mine = going;
    if (current?.place === place && place && current.module) {
      await current.module.show?.(parts);
      return;
    }
    leave();
    arrived(place);
    if (!place) {
      current = { node: section(unknown()) };
      return;
    }
    const known = kept.get(place.id);
    if (known) {
      current = known;
      known.node.hidden = false;
      await known.module.show?.(parts);
      return;
    }
    await enter(place, () => mine === going);
  }

  async function enter(place, isWanted) {
    const again = () => (leave(), arrive());
    const node = section(h("div", { class: "sheet" }, waitingFor(again, 4, () => (going += 1))));
    node.dataset.place = place.id;
    const entry = { place, node };
    current = entry;
    try {
      const module = await place.load();
      if (!isWanted()) return;
      node.replaceChildren();
      entry.module = module;
      await module.mount(node, { ...context, go });
      // While it was put in, a person may have gone on.
      if (current !== entry) {
        module.unmount?.();
        return;
      }
      if (place.keep) kept.set(place.id, entry);
      await module.show?.(parseAddress(location.hash).parts);
    } catch (error) {
      console.error("a place could not be opened", error);
      node.replaceChildren(h("div", { class: "sheet" }, errorState(`${words.places.broken}. ${reasonOf(error)}`, again)));
    }
  }

  function leave() {
    if (!current) return;
    const { place, node, module } = current;
    if (place && kept.has(place.id)) node.hidden = true;
    else {
      module?.unmount?.();
      node.remove();
    }
    current = undefined;
  }

  function section(...children) {
    // The skeleton of `index.html` stands there until the first place comes.
    host.querySelector(":scope > .sheet")?.remove();
    const node = h("section", { class: "place", tabindex: "-1" }, children);
    host.append(node);
    return node;
  }

  function unknown() {
    const { id, title } = home();
    const first = button(title, () => go(id), { kind: "primary" });
    return h("div", { class: "sheet" }, emptyState(words.places.unknown(location.hash), words.places.unknownHelp, first));
  }

  addEventListener("hashchange", arrive);
  return { go, arrive };
}
