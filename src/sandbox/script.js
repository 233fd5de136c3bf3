// Stands before each script of a campaign in JavaScript, which is the body of the function that begins in the last line. It has `input`,
// `files`, `log` and `tmp`: names and texts in memory, 16 MiB of them, that end with the run. Without a host, `fetch` says so in these words.
const level3Fetch = (nowhere) => (nowhere === undefined ? fetch : () => Promise.reject(new Error(nowhere)));
const level3Tmp = () => {
  const [most, kept] = [16 << 20, new Map()];
  const size = (text) => new TextEncoder().encode(text).length;
  const named = (name) => {
    if (typeof name !== "string" || name === "") throw new TypeError("a file in tmp has a name: tmp.write('rows.csv', text)");
    return name.startsWith("/tmp/") ? name.slice(5) : name;
  };
  const used = (but) => [...kept].reduce((sum, [name, { bytes }]) => (name === but ? sum : sum + bytes), 0);
  return Object.freeze({
    read(name) {
      const file = kept.get(named(name));
      if (!file) throw new Error(`there is no ${named(name)} in tmp; it has what this run wrote`);
      return file.text;
    },
    write(name, text) {
      if (typeof text !== "string") throw new TypeError("tmp keeps text: tmp.write(name, JSON.stringify(value))");
      const bytes = size(text);
      if (used(named(name)) + bytes > most) throw new RangeError(`${named(name)}: tmp has room for 16 MiB`);
      kept.set(named(name), { text, bytes });
    },
    remove: (name) => kept.delete(named(name)),
    list: () => [...kept.keys()],
  });
};
// The engine writes the result as JSON, which holds no NaN and no Infinity: it would write null.
const level3Stringify = JSON.stringify;
const level3Whole = (result) => {
  const paths = new Map();
  level3Stringify(result, function (key, value) {
    const step = Array.isArray(this) ? `[${key}]` : /^[\w$]+$/.test(key) ? `.${key}` : `[${level3Stringify(key)}]`;
    const path = paths.has(this) ? paths.get(this) + step : "result";
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new TypeError(`${path} is ${value}, which JSON cannot hold: return null or a string`);
    }
    if (typeof value === "object" && value !== null) paths.set(value, path);
    return value;
  });
  return result;
};
async function script({ input, files, nowhere, fetch = level3Fetch(nowhere) }) { Object.freeze(files); const tmp = level3Tmp(), log = (...words) => console.log(...words); {
