// The artifacts of a campaign: each with its versions, their content, what differs from one to the
// next, and a new one by hand.

import { h, keyed } from "../core/dom.js";
import { lineDiff } from "../core/line-diff.js";
import { shortTime } from "../core/times.js";
import { button } from "../ui/button.js";
import { exactDiff, exactNodes } from "../ui/exact.js";
import { errorState, waitingFor } from "../ui/states.js";
import { keepForm } from "./keep.js";
import { listSection, makePart, partRows } from "./part.js";
import { pictureNode } from "./picture.js";
import { campaigns as said } from "./words.js";

/** The section: `{ node, put(artifacts, over) }`. Contents are asked for when a person opens one. */
export function artifactsSection({ api, id, signal, load, announce }) {
  const { node, list, none } = listSection(said.artifacts, said.noArtifacts, "campaigns-artifacts");
  const keep = keepForm({ api, id, load, announce });
  node.append(keep.node);
  const show = (artifact, host) => artifactRow(artifact, host, { api, id, signal, keep });
  const put = (artifacts, over = false) => {
    keep.node.hidden = over;
    none.hidden = artifacts.length > 0;
    const rows = artifacts.map((artifact) => ({ ...artifact, over }));
    keyed(list, partRows(rows, ({ type, key }) => `${type} ${key}`, show), makePart);
  };
  return { node, put };
}

function artifactRow({ type, key, version, source, over }, host, { api, id, signal, keep }) {
  host.dataset.artifact = `${type} ${key}`;
  const body = h("div", { class: "campaigns-versions" });
  async function load() {
    body.replaceChildren(waitingFor(load, 3));
    try {
      const { versions } = await api.artifactVersions(id, type, key);
      if (signal.aborted) return;
      if (type === "picture") {
        body.replaceChildren(...versions.toReversed().flatMap((artifact) => [pictureNode(artifact), madeBy(said.version(artifact.version), artifact)]));
        return;
      }
      const another = button(said.newVersion, () => keep.fill({ type, key, content: versions.at(-1).content }), { "aria-label": said.newVersionOf(key), "data-part": "another", "data-testid": "campaigns-another" });
      body.replaceChildren(...versionNodes(versions), ...(over ? [] : [h("div", { class: "campaigns-deeds" }, another)]));
    } catch (error) {
      if (!signal.aborted) body.replaceChildren(errorState(error.message, load));
    }
  }
  const details = h("details", { "data-part": "versions" }, h("summary", { "data-part": "open" }, said.versions), body);
  details.addEventListener("toggle", () => details.open && body.childElementCount === 0 && load());
  const head = h("div", { class: "campaigns-head" }, h("strong", { dir: "auto" }, key), h("code", {}, type), h("span", { class: "campaigns-note" }, said.version(version), " · ", said.sources[source] ?? source));
  return [head, details];
}

/** A line that says whose a version was, and when it was kept. */
const madeBy = (title, { source, created_at: at }) => h("p", { class: "campaigns-note" }, `${title} · ${said.sources[source] ?? source}, ${shortTime(at)}`);

/** The newest whole, and before it each step that led there, the newest first. */
function versionNodes(versions) {
  const newest = versions.at(-1);
  const nodes = [h("pre", { class: "plain", tabindex: "0", role: "region", "aria-label": said.content(newest.artifact_key, newest.version), dir: "auto" }, exactNodes(newest.content))];
  for (let at = versions.length - 1; at > 0; at -= 1) {
    const [before, after] = [versions[at - 1], versions[at]];
    const diff = lineDiff(before.content, after.content);
    const title = said.diffOf(before.version, after.version);
    nodes.push(madeBy(title, after), diff === "" ? h("p", { class: "none" }, said.same) : exactDiff(diff, title));
  }
  return nodes;
}
