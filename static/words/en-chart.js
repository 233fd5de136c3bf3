// English: charts of rows.

export default {
  chart: {
    kind: { line: "Line", bars: "Bars" },
    across: "Across",
    up: "Up",
    every: "All numbers",
    broken: "The chart could not be loaded. The rows stand below.",
    said: (kind, ys, x, count) => `${kind} of ${ys} by ${x}, ${count} points. The table below has the values.`,
  },
};
