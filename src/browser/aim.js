// Looks at a node before it is touched, in a world of its own that the page's scripts cannot reach. Gives where it is, what covers it, where it
// leads, and what it is.
function () {
  const element = this.nodeType === 1 ? this : this.parentElement;
  if (!element || !element.isConnected) return { gone: true };
  const attribute = (of, name) => Element.prototype.getAttribute.call(of, name);
  const found = { to: [], elsewhere: false, download: false, file: false, secret: false, kind: "none" };
  const home = (target) => ["", "_self", "_top", "_parent"].includes((target || "").trim().toLowerCase());
  const base = element.ownerDocument.querySelector("base[target]");
  const target = (of) => attribute(of, "target") ?? (base ? attribute(base, "target") : "");
  const link = element.closest("a[href], area[href]");
  if (link) {
    found.to.push(link.href instanceof Object ? link.href.baseVal : link.href);
    found.elsewhere = !home(target(link));
    found.download = link.hasAttribute("download");
  }
  const button = element.closest("button, input");
  const sends = button && (button.localName === "button" ? button.type === "submit" : ["submit", "image"].includes(button.type));
  if (sends && button.form) {
    const action = attribute(button, "formaction") ?? attribute(button.form, "action");
    found.to.push(new URL(action || element.ownerDocument.URL, element.ownerDocument.baseURI).href);
    found.elsewhere ||= !home(attribute(button, "formtarget") ?? target(button.form));
  }
  const label = element.closest("label");
  const field = label && label.control ? label.control : element;
  found.file = field.localName === "input" && field.type === "file";
  const completes = (attribute(element, "autocomplete") || "").toLowerCase();
  if (element.localName === "input") {
    found.secret = element.type === "password" || /password|one-time-code/.test(completes);
    const dated = { date: "2026-01-31", "datetime-local": "2026-01-31T09:30", month: "2026-01", time: "09:30", week: "2026-W05" };
    found.like = dated[element.type];
    if (found.like) found.kind = "dated";
    if (["text", "search", "email", "url", "tel", "number", "password"].includes(element.type)) found.kind = "input";
  } else if (element.localName === "textarea") {
    found.secret = /password|one-time-code/.test(completes);
    found.kind = "input";
  } else if (element.localName === "select") {
    found.kind = "select";
  } else if (element.isContentEditable) {
    found.kind = "rich";
  }
  if (field.disabled || (["input", "dated"].includes(found.kind) && element.readOnly)) found.kind = "off";

  const box = [...element.getClientRects()].find((one) => one.width > 0 && one.height > 0);
  if (!box) return { ...found, hidden: true };
  let x = box.left + box.width / 2;
  let y = box.top + box.height / 2;
  const shown = (top) => (top ? top.outerHTML.slice(0, 60) : "nothing: it is out of sight");
  const top = element.getRootNode().elementFromPoint(x, y);
  const inside = top && (top === element || element.contains(top) || (top.contains(element) && top.closest("label, a, button") === top));
  if (!inside) return { ...found, covered: shown(top) };
  for (let view = element.ownerDocument.defaultView; view !== view.top; view = view.parent) {
    const frame = view.frameElement;
    if (!frame) return { ...found, foreign: true };
    const outer = frame.getBoundingClientRect();
    x += outer.left + frame.clientLeft;
    y += outer.top + frame.clientTop;
    const above = frame.getRootNode().elementFromPoint(x, y);
    if (above !== frame) return { ...found, covered: shown(above) };
  }
  return { ...found, x, y };
}
