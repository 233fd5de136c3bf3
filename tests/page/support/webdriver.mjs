// A Chromium driven through chromedriver, for tests and scripts that need windows of a size, keys,
// or a look at the page.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const has = spawnSync("chromedriver", ["--version"]).status === 0;
if (!has) console.error("SKIPPED: no chromedriver here, so no screen was looked at. Install `chromium-driver`.");

/** For the option `skip` of a test. */
export const skip = !has && process.env.CI !== "true" ? "no chromedriver" : false;

const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-dev-shm-usage",
  "--hide-scrollbars",
  "--force-device-scale-factor=1",
  "--window-size=1440,1000",
];
const WAIT_MS = 60_000;

/** A port that was free may be taken before the driver has it: then it is tried once more. */
async function startDriver(tries = 5) {
  const driver = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
  const port = await new Promise((resolve) => {
    let said = "";
    driver.stdout.on("data", (data) => {
      const [, found] = (said += data).match(/successfully on port (\d+)/) ?? [];
      if (found) resolve(found);
    });
    driver.once("exit", () => resolve(undefined));
  });
  if (port) return { driver, port };
  if (tries === 1) throw new Error("chromedriver cannot be started");
  return startDriver(tries - 1);
}

/** Starts a browser, with these further flags: `{ go, js, later, cdp, tab, shown, show, waitFor, size, media, shot, keys, chord, errors, end }`. */
export async function startBrowser(more = []) {
  const profile = mkdtempSync(join(tmpdir(), "level3-screens-"));
  const { driver, port } = await startDriver();
  const ask = async (method, path, body) => {
    const options = { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) };
    const { value } = await (await fetch(`http://127.0.0.1:${port}${path}`, options)).json();
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  const args = [...FLAGS, ...more, `--user-data-dir=${profile}`];
  const wanted = { alwaysMatch: { "goog:chromeOptions": { args }, "goog:loggingPrefs": { browser: "ALL" } } };
  const { sessionId } = await ask("POST", "/session", { capabilities: wanted });
  const own = (method, path, body) => ask(method, `/session/${sessionId}${path}`, body);
  const js = (script, ...all) => own("POST", "/execute/sync", { script, args: all });
  const cdp = (cmd, params = {}) => own("POST", "/goog/cdp/execute", { cmd, params });
  return {
    go: (url) => own("POST", "/url", { url }),
    /** Runs a script in the page; its last statement returns. */
    js,
    /** Runs a script that gives its result to the function that is its last argument. */
    later: (script, ...all) => own("POST", "/execute/async", { script, args: all }),
    cdp,
    /** Opens one more tab, and says which one; `show` goes from one to another. */
    async tab() {
      const { handle } = await own("POST", "/window/new", { type: "tab" });
      await own("POST", "/window", { handle });
      return handle;
    },
    shown: () => own("GET", "/window"),
    show: (handle) => own("POST", "/window", { handle }),
    close: () => own("DELETE", "/window"),
    /** Waits until the script returns something true. */
    async waitFor(script, ...all) {
      for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
        const found = await js(script, ...all);
        if (found) return found;
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      throw new Error(`in vain waited for: ${script} ${all.join(" ")}\n${await js("return document.body.innerText")}`);
    },
    /** A window of this size, in pixels of which each is so many of the screen; a narrow one is a phone that is touched. */
    async size(width, height, deviceScaleFactor = 1) {
      const mobile = width < 640;
      await cdp("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor, mobile });
      await cdp("Emulation.setTouchEmulationEnabled", { enabled: mobile, maxTouchPoints: mobile ? 5 : 1 });
    },
    /** The preferences that the system is said to have, such as `{ "prefers-color-scheme": "dark" }`. */
    media: (features) =>
      cdp("Emulation.setEmulatedMedia", { features: Object.entries(features).map(([name, value]) => ({ name, value })) }),
    shot: async () => Buffer.from(await own("GET", "/screenshot"), "base64"),
    /** Presses keys as a person does; `keys` are characters as WebDriver has them. */
    keys(...keys) {
      const press = (value) => [{ type: "keyDown", value }, { type: "keyUp", value }];
      return own("POST", "/actions", { actions: [{ type: "key", id: "keys", actions: keys.flatMap(press) }] });
    },
    /** Holds all of these keys down, and lets go of them. */
    chord(...keys) {
      const actions = [...keys.map((value) => ({ type: "keyDown", value })), ...keys.toReversed().map((value) => ({ type: "keyUp", value }))];
      return own("POST", "/actions", { actions: [{ type: "key", id: "keys", actions }] });
    },
    /** The errors that the page wrote to the console. The page before it may have written some as well, once its server was gone. */
    async errors() {
      const here = await js("return location.origin");
      const isHere = (message) => (/^http:\/\/127\.0\.0\.1:\d+/.exec(message)?.[0] ?? here) === here;
      const said = await own("POST", "/se/log", { type: "browser" });
      return said.filter(({ level, message }) => level === "SEVERE" && isHere(message)).map(({ message }) => message);
    },
    async end() {
      await own("DELETE", "").catch(() => undefined);
      driver.kill();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
