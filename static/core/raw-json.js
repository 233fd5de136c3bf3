// For a browser that does not say how a number of JSON is written: `JSON.parse` gives it to a
// reviver, and `JSON.stringify` writes numbers as `JSON.rawJSON` has them.

const { parse, stringify } = JSON;
/** Stands before the digits of a number while it is a text. Nobody who writes a text for this page knows it. */
const MARK = `${Math.random()}:`;
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const MARKED = new RegExp(`"${MARK.replaceAll(".", "\\.")}([^"]*)"`, "g");

JSON.parse = (text, reviver) => {
  // A fault is found here, at its place in the text.
  const value = parse(text);
  if (typeof reviver !== "function") return value;
  const marked = String(text).replace(TEXT_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${MARK}${token}"`));
  return parse(marked, function (name, each) {
    const source = typeof each === "string" && each.startsWith(MARK) ? each.slice(MARK.length) : undefined;
    return source === undefined ? reviver.call(this, name, each, {}) : reviver.call(this, name, Number(source), { source });
  });
};

JSON.stringify = (...all) => stringify(...all)?.replace(MARKED, "$1");

JSON.rawJSON = (text) => MARK + text;
