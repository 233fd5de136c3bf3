// A bad line between a browser and the program: it passes everything on, fails what the page asks
// for as the program does without its database, knows nobody, or lets nothing through.

import { createServer, request as ask } from "node:http";

/** The answer of `StoreError::for_caller`, in `src/store/mod.rs`. */
const FAILURE = JSON.stringify({ error: "the database does not answer; try again" });
const STRANGER = JSON.stringify({ error: "sign in" });
const JSON_TYPE = { "content-type": "application/json" };

/** Starts one before the server at `to`: `{ address, be(state), end }`, where `state` is `up`, `failing`, `stranger` or `down`. */
export async function startBadLine(to) {
  const { hostname, port, host } = new URL(to);
  const sockets = new Set();
  let state = "up";

  /** The same request to the server, which knows its own address alone. */
  const passedOn = ({ method, url: path, headers }) => {
    const origin = headers.origin && { origin: `http://${host}` };
    return ask({ agent: false, hostname, port, method, path, headers: { ...headers, host, ...origin } });
  };

  const server = createServer((request, response) => {
    if (state === "down") return request.socket.destroy();
    if (state === "failing" && request.url.startsWith("/api/")) return response.writeHead(503, JSON_TYPE).end(FAILURE);
    if (state === "stranger" && request.url === "/api/me") return response.writeHead(401, JSON_TYPE).end(STRANGER);
    const passed = passedOn(request);
    passed.on("response", (answer) => (response.writeHead(answer.statusCode, answer.headers), answer.pipe(response)));
    passed.on("error", () => response.destroy());
    request.pipe(passed);
  });

  server.on("upgrade", (request, socket) => {
    if (state === "down") return socket.destroy();
    const passed = passedOn(request);
    socket.on("error", () => passed.destroy());
    passed.on("error", () => socket.destroy());
    passed.on("response", () => socket.destroy());
    passed.on("upgrade", ({ headers }, other, begun) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`);
      socket.write(begun);
      for (const [one, far] of [[socket, other], [other, socket]]) {
        sockets.add(one);
        one.on("error", () => far.destroy()).on("close", () => far.destroy()).pipe(far);
      }
    });
    passed.end();
  });

  const cut = () => {
    sockets.forEach((socket) => socket.destroy());
    sockets.clear();
    server.closeAllConnections();
  };
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${server.address().port}/`,
    be(next) {
      state = next;
      if (state === "down") cut();
    },
    end: () => (cut(), server.close()),
  };
}
