// Serves `static/` as the program does, under the same policy, and says what a world says: for
// tests of whole screens without the program.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { acceptSocket } from "./websocket.mjs";

const STATIC = fileURLToPath(new URL("../../../static", import.meta.url));
const FOLDER = "/s/0000000000000000/";
const KEPT = { "cache-control": "public, max-age=31536000, immutable" };
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".png": "image/png", ".woff2": "font/woff2", ".webmanifest": "application/manifest+json" };
const POLICY = readFileSync(new URL("../../../src/http/access/mod.rs", import.meta.url), "utf8").match(/"(default-src[^"]*)"/)[1].replace(/\\\n\s*/g, "");

/**
 * Starts it. `change({ path, text })` may give a file another text, which is how a test adds a place, or a promise of it, which holds it back;
 * `asked` hears what is asked for. In `world.api` an answer stands under its path, or under method and path; a function gets `{ search, body }`,
 * an answer with `refused` is one of that status, and one with `png` that picture. `world.heard(frame, say)`, if there is one, hears what pages say, `world.hello` is what it
 * greets with beside, `world.ahead` by how many milliseconds its clock is ahead, `world.down` lets nobody in, and of a `world.whole` a page gets every frame at once.
 */
export async function serveScreens(world, change = ({ text }) => text, asked = () => undefined) {
  const sockets = new Set();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams: search } = new URL(request.url, "http://x");
    asked(pathname);
    if (world.ahead) response.setHeader("date", new Date(Date.now() + world.ahead).toUTCString());
    const answer = (status, type, body, more = {}) => response.writeHead(status, { "content-type": type, "content-security-policy": POLICY, ...more }).end(body);
    if (world.down && pathname.startsWith("/api/")) {
      request.socket.destroy();
      return;
    }
    if (pathname.startsWith("/api/")) {
      const given = world.api[`${request.method} ${pathname}`] ?? world.api[pathname];
      const found = typeof given === "function" ? await given({ search, body: await bodyOf(request) }) : (given ?? framesIn(world, pathname, search));
      if (found?.png) {
        answer(200, "image/png", Buffer.from(found.png, "base64"));
        return;
      }
      const error = world.failure ?? "There is nothing here.";
      const { refused } = found ?? {};
      answer(refused ?? (found ? 200 : world.failure ? 503 : 404), "application/json", JSON.stringify(found ?? { error }));
      return;
    }
    const name = pathname === "/" ? "index.html" : pathname === "/sign-in" ? "sign-in/index.html" : pathname === "/loopback" ? "loopback/index.html" : pathname.startsWith(FOLDER) ? pathname.slice(FOLDER.length) : undefined;
    try {
      const isText = /\.(html|js|css)$/.test(name);
      const file = (await change({ path: name, text: isText ? read(name) : undefined })) ?? readFileSync(join(STATIC, name));
      answer(200, TYPES[extname(name)] ?? "text/html; charset=utf-8", name.endsWith("index.html") ? file.replaceAll("/s/-/", FOLDER) : file, name === "index.html" ? {} : KEPT);
    } catch {
      answer(404, "text/plain", "");
    }
  });
  server.on("upgrade", (request, socket) => {
    if (world.down) {
      socket.destroy();
      return;
    }
    const one = acceptSocket(request, socket, (text) => {
      const frame = JSON.parse(text);
      const { type, conversation = world.hello?.conversation ?? 1, after = 0 } = frame;
      const say = (each) => one.say(JSON.stringify(each));
      if (type === "resume") world.frames.filter((each) => (world.whole || each.seq > after) && (each.conversation ?? 1) === conversation).forEach(say);
      world.heard?.(frame, say);
    });
    sockets.add(one);
    one.say(JSON.stringify(helloOf(world)));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    /** Says a frame to every page. */
    say: (frame) => sockets.forEach((socket) => socket.say(JSON.stringify(frame))),
    /** Breaks every line, as a server does that is gone. */
    drop() {
      sockets.forEach((socket) => socket.end());
      sockets.clear();
    },
    end() {
      sockets.forEach((socket) => socket.end());
      server.closeAllConnections();
      server.close();
    },
  };
}

const helloOf = ({ model, frames, hello }) => ({
  ...{ type: "hello", version: "0.1.0", conversation: 1, conversations: { builder: 1 }, last_seq: frames.length },
  ...{ model, images: false, safe_mode: false },
  ...hello,
});

async function bodyOf(request) {
  let text = "";
  for await (const piece of request) text += piece;
  return text === "" ? undefined : JSON.parse(text);
}

function read(name) {
  try {
    return readFileSync(join(STATIC, name), "utf8");
  } catch {
    // A test may serve a file that is not there.
    return undefined;
  }
}

/** The page of frames that an address asks for, of a world that has not said otherwise. */
function framesIn({ failure, frames }, pathname, search) {
  const [, conversation] = /^\/api\/conversations\/(\d+)\/frames$/.exec(pathname) ?? [];
  const own = frames.filter((frame) => String(frame.conversation ?? 1) === conversation);
  return failure || own.length === 0 ? undefined : pageOf(own, search);
}

/** A page of whole turns, as the server gives it. */
export function pageOf(frames, search) {
  const before = Number(search.get("before") ?? Infinity);
  const older = frames.filter(({ seq }) => seq < before);
  let from = Math.max(0, older.length - Number(search.get("limit") ?? 200));
  while (from > 0 && older[from].turn === older[from - 1].turn) from -= 1;
  return { frames: older.slice(from), before: from > 0 ? older[from].seq : null };
}
