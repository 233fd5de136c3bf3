// Formulas drawn: Temml makes MathML of TeX, of which only known elements and attributes reach the
// page.

import { styles } from "../core/styles.js";
import { library } from "../ui/script.js";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const OPTIONS = { throwOnError: true, strict: false, trust: false, maxSize: [20, 20], maxExpand: 500, annotate: false };

const ELEMENTS = new Set(
  "math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd menclose merror semantics".split(" "),
);
const ATTRIBUTES = new Set(
  "display displaystyle scriptlevel mathvariant stretchy fence form separator largeop movablelimits accent accentunder lspace rspace minsize maxsize symmetric width height depth voffset linethickness columnalign rowalign columnlines rowlines columnspacing rowspacing columnspan rowspan notation mathsize".split(" "),
);
const CLASSES = /^(tml-[a-z-]+|mathscr|mathcal|mathit)$/;

let temml;

/** The function that draws the formula of a `<code>`, when the library and the styles are there. */
export async function ready() {
  [temml] = await Promise.all([library("temml-0.13.5.min.js", "temml"), styles(import.meta.url, "formulas.css")]);
  return draw;
}

const drawn = new Map();
const MOST_DRAWN = 500;

function draw(node) {
  const isDisplay = node.dataset.formula === "display";
  const key = `${isDisplay}:${node.textContent}`;
  if (!drawn.has(key)) {
    if (drawn.size >= MOST_DRAWN) drawn.clear();
    drawn.set(key, formula(node.textContent, isDisplay));
  }
  const math = drawn.get(key);
  if (math) node.replaceWith(math.cloneNode(true));
}

/** TeX as safe MathML; nothing if it cannot be read. */
function formula(tex, isDisplay) {
  try {
    // Styles are taken out of the text before anything reads it: the page forbids them, and would
    // complain.
    const markup = temml.renderToString(tex, { ...OPTIONS, displayMode: isDisplay }).replace(/ style="[^"]*"/g, "");
    const math = new DOMParser().parseFromString(markup, "text/html").querySelector("math");
    const safe = math && copyOf(math);
    safe?.setAttribute("aria-label", tex);
    if (isDisplay) safe?.setAttribute("display", "block");
    return safe ?? undefined;
  } catch {
    return undefined;
  }
}

/** The same tree of known elements; what is not known gives way to what is in it. */
function copyOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE) return undefined;
  const children = [...node.childNodes].map(copyOf).filter(Boolean);
  if (node.namespaceURI !== MATHML || !ELEMENTS.has(node.localName)) {
    const rest = document.createDocumentFragment();
    rest.append(...children);
    return rest;
  }
  const copy = document.createElementNS(MATHML, node.localName);
  for (const { name, value } of node.attributes) {
    if (ATTRIBUTES.has(name)) copy.setAttribute(name, value);
    else if (name === "class") copy.setAttribute("class", value.split(/\s+/).filter((each) => CLASSES.test(each)).join(" "));
  }
  copy.append(...children);
  return copy;
}
