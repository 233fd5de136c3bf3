// The server's side of a websocket in the few lines that a test needs: text frames of one piece.

import { createHash } from "node:crypto";

/** Accepts the upgrade; `said(text)` hears each message. Returns `{ say(text), end() }`. */
export function acceptSocket(request, socket, said) {
  const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash("sha1").update(key).digest("base64");
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
  let waiting = Buffer.alloc(0);
  socket.on("error", () => undefined);
  socket.on("data", (data) => {
    waiting = Buffer.concat([waiting, data]);
    for (let frame = frameIn(waiting); frame; frame = frameIn(waiting)) {
      waiting = waiting.subarray(frame.size);
      if (frame.opcode === 1) said(frame.payload.toString());
      if (frame.opcode === 8) socket.end();
    }
  });
  return { say: (text) => socket.writable && socket.write(framed(text)), end: () => socket.destroy() };
}

/** The first whole frame of what came in; those of a browser are masked. */
function frameIn(data) {
  if (data.length < 6) return undefined;
  const short = data[1] & 0x7f;
  const from = { 126: 4, 127: 10 }[short] ?? 2;
  if (data.length < from + 4) return undefined;
  const length = { 126: () => data.readUInt16BE(2), 127: () => Number(data.readBigUInt64BE(2)) }[short]?.() ?? short;
  const size = from + 4 + length;
  if (data.length < size) return undefined;
  const mask = data.subarray(from, from + 4);
  const payload = Buffer.from(data.subarray(from + 4, size)).map((byte, at) => byte ^ mask[at % 4]);
  return { opcode: data[0] & 0x0f, payload, size };
}

function framed(text) {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10);
  head[0] = 0x81;
  if (payload.length < 126) head[1] = payload.length;
  else if (payload.length < 65_536) (head[1] = 126), head.writeUInt16BE(payload.length, 2);
  else (head[1] = 127), head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}
