// The things of others that the page carries, with the licence of each.
// `tests/page/settings.test.mjs` compares it with the files.

export const LICENCES = [
  { name: "daily-js 0.87.0", licence: "BSD-2-Clause", file: "daily-js-0.87.0.LICENSE" },
  { name: "DOMPurify 3.4.18", licence: "MPL-2.0 or Apache-2.0", file: "dompurify-3.4.18.LICENSE" },
  { name: "highlight.js 11.12.0", licence: "BSD-3-Clause", file: "highlight-11.12.0.LICENSE" },
  { name: "Inter 5.3.0", licence: "OFL-1.1", file: "inter-5.3.0.LICENSE" },
  { name: "marked 18.2.1", licence: "MIT", file: "marked-18.2.1.LICENSE" },
  { name: "Temml 0.13.5", licence: "MIT", file: "temml-0.13.5.LICENSE" },
  { name: "uPlot 1.6.32", licence: "MIT", file: "uplot-1.6.32.LICENSE" },
];
