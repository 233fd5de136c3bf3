// Finds formulas in TeX in a text. They are drawn by `mathml.js`, which comes with the first one.

/** A longer one is shown as it is written: it is no formula that a person reads. */
const LONGEST = 4000;

/** True for what stands between single dollars and is a formula: "$5 and $6" is not. */
const INLINE = /^\$(?!\s|\$)((?:\\[\s\S]|[^\\$\n])+?)(?<![\s\\])\$(?![\w$])/;
const rules = [
  { name: "formula-display", level: "block", start: /(?<=\n)(?:\$\$|\\\[)/, rule: /^(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n|$)/, display: true },
  { name: "formula-inner", level: "inline", start: /\$\$|\\\[/, rule: /^(?:\$\$([^$]+?)\$\$|\\\[([^\n]+?)\\\])/, display: true },
  { name: "formula", level: "inline", start: /\$|\\\(/, rule: new RegExp(`${INLINE.source}|^\\\\\\(((?:[^\\\\\\n]|\\\\[^)\\n])+?)\\\\\\)`), display: false },
];

/** A text as HTML that says it. */
export const escaped = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** A sum of money, `$10 (about R$`, or a path, `$HOME/bin$`: a dollar stands on both sides of each. */
const SUM = /^\d[^\\]*[\s(]\p{L}{2,}/u;
const CURRENCY = /(?<![\w\\])[A-Z]{1,3}\$[ \u00a0]\d/;
const PATH = /^[A-Z][A-Z_]+\/[a-z.]/;
const isMoney = (tex, around) => SUM.test(tex) || PATH.test(tex) || CURRENCY.test(around);
/** True if what follows a word or a number is the sign of a currency: `US$`, `R$`. */
const isBehindWord = (source, before) => source.startsWith("$") && /[a-z\d]$/i.test(before?.raw ?? "");

/** Extensions for marked. A formula is a `<code>` of a language of its own until it is drawn, and stays one if it cannot be. */
export const FORMULAS = rules.map(({ name, level, start, rule, display }) => ({
  name,
  level,
  start: (source) => {
    const at = source.search(start);
    return at === -1 ? undefined : at;
  },
  tokenizer(source, tokens) {
    const found = level === "inline" && isBehindWord(source, tokens.at(-1)) ? undefined : rule.exec(source);
    const tex = found?.slice(1).find((part) => part !== undefined)?.trim();
    if (name === "formula" && tex && isMoney(tex, source.slice(0, found[0].length + 2))) return undefined;
    return tex ? { type: name, raw: found[0], tex } : undefined;
  },
  renderer: ({ tex }) => (level === "block" ? `<p>${codeOf(tex, display)}</p>` : codeOf(tex, display)),
}));

const codeOf = (tex, display) => `<code class="language-tex-${display ? "display" : "inline"}">${escaped(tex)}</code>`;

let draw;
let loading;

/** Draws the formulas in `root`, at once or when that can be. Until then the TeX stands there. */
export function showFormulas(root) {
  const all = [...root.querySelectorAll("code.language-tex-inline, code.language-tex-display")].filter((node) => node.closest("pre") === null && node.textContent.length <= LONGEST);
  if (all.length === 0) return;
  for (const node of all) node.dataset.formula = node.classList.contains("language-tex-display") ? "display" : "inline";
  if (draw) {
    all.forEach(draw);
    return;
  }
  loading ??= import("./mathml.js").then((module) => module.ready());
  loading.then((ready) => ((draw = ready), all.forEach(draw))).catch(() => (loading = undefined));
}
