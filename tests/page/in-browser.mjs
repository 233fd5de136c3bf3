// Runs a module of this folder in a real Chromium, on a page with the files of `static/` but
// without the server's Content-Security-Policy, and gives what it reports. Without Chromium such
// tests are skipped loudly, and under CI=true they fail.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const STATIC = fileURLToPath(new URL("../../static", import.meta.url));
const HERE = fileURLToPath(new URL(".", import.meta.url));
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".html": "text/html", ".css": "text/css" };

const browser = ["chromium", "chromium-browser", "google-chrome"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);
if (!browser)
  console.error("SKIPPED: no Chromium here, so hostile text was not tried in a browser. Install `chromium`.");

/** For the option `skip` of a test. */
export const skip = !browser && process.env.CI !== "true" ? "no Chromium" : false;

const listen = (handler) =>
  new Promise((resolve) => {
    const server = createServer(handler).listen(0, "127.0.0.1", () => resolve(server));
  });
const address = (server) => `http://127.0.0.1:${server.address().port}`;

/**
 * The report of the module `harness`, or of a page of this folder that loads one, made with a POST to `/report`, and in `asked` all that was asked of a foreign server, whose address the
 * page's `body` carries as `data-foreign`. `styles` are files of `static/`; `headers` go with each answer.
 */
export async function runInBrowser(harness, styles = [], headers = {}) {
  assert.ok(browser, "CI has no Chromium; install the package `chromium`");
  const asked = [];
  const foreign = await listen((request, response) => {
    asked.push(request.url);
    response.end();
  });
  let report;
  const reported = new Promise((resolve) => (report = resolve));
  const links = styles.map((file) => `<link rel=stylesheet href="/${file}">`).join("");
  const server = await listen((request, response) => {
    if (request.method === "POST") {
      let body = "";
      request.on("data", (data) => (body += data)).on("end", () => (response.end(), report(JSON.parse(body))));
      return;
    }
    const body = `<body data-foreign="${address(foreign)}">`;
    const page = harness.endsWith(".html") ? readFileSync(join(HERE, harness), "utf8").replace("<body>", body) : `<!doctype html><meta charset=utf-8>${links}${body}<script type=module src=/harness/${harness}></script>`;
    const { pathname } = new URL(request.url, "http://x");
    const file = pathname.startsWith("/harness/") ? join(HERE, pathname.slice(9)) : join(STATIC, pathname);
    try {
      const answer = pathname === "/" ? page : readFileSync(file);
      response.writeHead(200, { ...headers, "content-type": TYPES[extname(pathname)] ?? "text/html" }).end(answer);
    } catch {
      response.writeHead(404).end();
    }
  });
  const result = await browse(address(server), reported, (failure) => report({ failure }));
  for (const each of [server, foreign]) (each.closeAllConnections(), each.close());
  return { ...result, asked };
}

async function browse(url, reported, fail) {
  const profile = mkdtempSync(join(tmpdir(), "level3-page-"));
  const flags = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  const child = spawn(browser, [...flags, `--user-data-dir=${profile}`, url], { stdio: "ignore", detached: true });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const deadline = setTimeout(() => fail("the browser did not report within 280 s"), 280_000);
  const result = await Promise.race([reported, gone.then(() => ({ failure: "the browser ended without a report" }))]);
  clearTimeout(deadline);
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
  await gone;
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  return result;
}
