// Markdown in a real browser: what is hostile does no harm even without the page's Content-Security-Policy, and what is not
// comes out as it should. Needs Chromium; without it the test is skipped loudly, and under CI=true it fails.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const STATIC = fileURLToPath(new URL("../../static", import.meta.url));
const HERE = fileURLToPath(new URL(".", import.meta.url));
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".html": "text/html" };

const browser = ["chromium", "chromium-browser", "google-chrome"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);
if (!browser)
  console.error("SKIPPED: no Chromium here, so hostile markdown was not tried in a browser. Install `chromium`.");
const skip = !browser && process.env.CI !== "true" ? "no Chromium" : false;

const listen = (handler) =>
  new Promise((resolve) => {
    const server = createServer(handler).listen(0, "127.0.0.1", () => resolve(server));
  });
const address = (server) => `http://127.0.0.1:${server.address().port}`;

/** Runs `markdown-harness.mjs` in the browser and gives what it reports, with all that was asked of the foreign server. */
async function runHarness() {
  assert.ok(browser, "CI has no Chromium; install the package `chromium`");
  const asked = [];
  const foreign = await listen((request, response) => {
    asked.push(request.url);
    response.end();
  });
  let report;
  const reported = new Promise((resolve) => (report = resolve));
  const server = await listen((request, response) => {
    if (request.method === "POST") {
      let body = "";
      request.on("data", (data) => (body += data)).on("end", () => (response.end(), report(JSON.parse(body))));
      return;
    }
    const page = `<!doctype html><meta charset=utf-8><body data-foreign="${address(foreign)}"><script type=module src=/harness/markdown-harness.mjs></script>`;
    const { pathname } = new URL(request.url, "http://x");
    const file = pathname.startsWith("/harness/") ? join(HERE, pathname.slice(9)) : join(STATIC, pathname);
    try {
      const body = pathname === "/" ? page : readFileSync(file);
      response.writeHead(200, { "content-type": TYPES[extname(pathname)] ?? "text/html" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  const profile = mkdtempSync(join(tmpdir(), "level3-markdown-"));
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
  const child = spawn(browser, [...flags, `--user-data-dir=${profile}`, address(server)], {
    stdio: "ignore",
    detached: true,
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  const deadline = setTimeout(() => report({ failure: "the browser did not report within 60 s" }), 60_000);
  const result = await Promise.race([reported, gone.then(() => ({ failure: "the browser ended without a report" }))]);
  clearTimeout(deadline);
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
  await gone;
  for (const each of [server, foreign]) (each.closeAllConnections(), each.close());
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  return { ...result, asked };
}

test("markdown_in_a_real_browser", { skip, timeout: 120_000 }, async (t) => {
  const result = await runHarness();
  assert.equal(result.failure, undefined);
  await t.test("hostile_markdown_leaves_nothing_forbidden_behind", () => {
    assert.ok(result.hostile.length >= 30, "the list was tried");
    assert.deepEqual(
      result.hostile.filter(({ found }) => found.length > 0),
      [],
    );
  });
  await t.test("hostile_markdown_runs_nothing_and_fetches_nothing", () => {
    assert.equal(result.pwned, 0);
    assert.deepEqual(result.asked, []);
    assert.deepEqual(result.control, { ran: true }, "the harness would have noticed");
  });
  for (const { name, ok, detail } of result.plain) {
    await t.test(name, () => assert.ok(ok, detail));
  }
  assert.ok(result.plain.length >= 9);
});
