// A server of node's `ws` that sends each message on to everybody, as its documentation has it: the
// benchmark compares level3 with it. It greets as /chat does, so that one client reads both. The
// benchmark reads the port, and the end of its input ends the server.
import { WebSocket, WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("listening", () => console.log(server.address().port));
server.on("connection", (socket) => {
  socket.on("message", (data, isBinary) => {
    for (const client of server.clients) {
      if (client.readyState === WebSocket.OPEN) client.send(data, { binary: isBinary });
    }
  });
  // A socket that breaks off is the benchmark's own affair.
  socket.on("error", () => {});
  socket.send(JSON.stringify({ type: "hello", conversation: 1, last_seq: 0 }));
});
process.stdin.resume().on("end", () => process.exit());
