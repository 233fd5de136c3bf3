// How long it takes until a person sees the page and until it is ready (the line to the server is
// up), and what that costs to carry: `node tests/page/first-paint.mjs http://127.0.0.1:8000/`. The
// server has to run; 20 loads with an empty cache, then one with a full one.

import { startBrowser } from "./support/webdriver.mjs";

const [address = "http://127.0.0.1:8000/", loads = "20"] = process.argv.slice(2);

/** All that was asked for up to now, and when the first paint was. */
const LOOK = `
  const [page] = performance.getEntriesByType("navigation");
  const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime;
  const files = performance.getEntriesByType("resource").map((each) => ({ name: new URL(each.name).pathname, start: each.startTime, end: each.responseEnd, bytes: each.transferSize, encoded: each.encodedBodySize }));
  files.push({ name: "/", start: 0, end: page.responseEnd, bytes: page.transferSize, encoded: page.encodedBodySize });
  return { paint, files, ready: performance.getEntriesByName("ready")[0]?.startTime };`;
/** Notes in each page when it is ready. */
const NOTE = `
  const watch = new MutationObserver(() => {
    if (!document.querySelector("[data-testid=connection][data-state=connected]")) return;
    performance.mark("ready");
    watch.disconnect();
  });
  watch.observe(document, { subtree: true, childList: true, attributeFilter: ["data-state"] });`;

const browser = await startBrowser();
const look = async () => {
  await browser.waitFor(`return performance.getEntriesByName("ready").length > 0`);
  return browser.js(LOOK);
};
try {
  await browser.cdp("Page.addScriptToEvaluateOnNewDocument", { source: NOTE });
  const paints = [];
  const readies = [];
  let last;
  for (let load = 0; load < Number(loads); load += 1) {
    await browser.go("about:blank");
    await browser.cdp("Network.clearBrowserCache");
    await browser.go(address);
    last = await look();
    paints.push(last.paint);
    readies.push(last.ready);
  }
  const at = (times, part) => Math.round(times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))]);
  const spread = (times) => `p50 ${at(times, 0.5)} ms, p90 ${at(times, 0.9)} ms, slowest ${at(times, 1)} ms`;
  const sum = (files) => (files.reduce((all, { encoded }) => all + encoded, 0) / 1024).toFixed(1);
  const own = ({ name }) => !name.includes("/vendor/") && !name.startsWith("/api/");
  const files = last.files.filter(({ name }) => !name.startsWith("/api/"));
  console.log(`first paint: ${spread(paints)}, of ${loads} cold loads`);
  console.log(`ready: ${spread(readies)}`);
  console.log(`asked for before it: ${last.files.filter(({ start }) => start < last.paint).length}, there before it: ${last.files.filter(({ end }) => end < last.paint).length}`);
  console.log(`files of first use: ${files.length}, own ${sum(files.filter(own))} KB, all ${sum(files)} KB`);
  console.log(`the last of them after ${Math.round(Math.max(...files.map(({ end }) => end)))} ms`);
  await browser.go("about:blank");
  await browser.go(address);
  const again = (await look()).files.filter(({ name }) => !name.startsWith("/api/"));
  console.log(`load with a full cache: ${(again.reduce((all, { bytes }) => all + bytes, 0) / 1024).toFixed(1)} KB in ${again.filter(({ bytes }) => bytes > 0).length} requests`);
} finally {
  await browser.end();
}
