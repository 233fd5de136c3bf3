// A model by a script, as an OpenAI-compatible provider: for pictures of places in which the tour
// has no part. It says the same each time. `node tests/page/support/scripted-model.mjs FILE` runs
// it, and writes its address into that file.

import { renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

/** The judgement of a governor, as it is to be read. */
const judgement = (risk) => JSON.stringify({ complexity: "low", risk, impact: "local", requires_confirmation: false });

/** What a campaign's model proposes, one after the other. */
const PROPOSALS = [
  ["persist_artifact", { task: 1, type: "heuristic", key: "tone", content: "Short sentences. One question a message.\nNo superlatives." }],
  ["request_user_input", { task: 2, question: "when", text: "On which days can the flat be seen?" }],
];
/** Its call in a talk, and its words afterwards: rows that can be drawn, and a capability whose powers somebody has to allow. */
const TALKS = [
  [/sold/i, ["execute_sql", { query: "SELECT date '2026-11-02' + n AS day, 20 + (n * 7) % 12 + n AS sold, 3 + (n * 5) % 7 AS returned FROM generate_series(0, 13) AS n" }], "Fourteen days, from 2 to 15 November. The fewest were sold on the second."],
  [/weather/i, ["write_capability", { name: "weather", description: "Asks a server for the weather of a city.", code: "export default async function weather({ city }) {\n  const response = await fetch(`https://api.example.com/${encodeURIComponent(city)}`);\n  if (!response.ok) throw new Error(`the server answered ${response.status}`);\n  return response.json();\n}", parameters_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }, grants: { http: { hosts: ["api.example.com"] } } }], "It is there."],
];
/** What the operator's planner does for an order, and its last words. */
const PLANS = [
  [/script/i, [["list_scripts", {}, "low"]], "There is no script yet. Tell me what one should do."],
  [/doubl/i, [["create_script", { name: "double", description: "Doubles a number.", code: "export default function double(params) {\n  return params.n * 2;\n}", parameters_schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] }, tests: [{ params: { n: 2 }, expect: 4 }] }, "low"], ["execute_script", { name: "double", arguments: { n: 21 } }, "high"]], "The script double is there. It made 42 of 21."],
];

/** Starts it: `{ address, end }`. */
export async function startScriptedModel() {
  const proposals = [...PROPOSALS];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    if (request.method !== "POST") return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data: [{ id: "scripted", object: "model" }] }));
    const asked = JSON.parse(text);
    return answer(response, asked, saidTo(asked, proposals));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/v1`, end: () => (server.closeAllConnections(), server.close()) };
}

/** `{ content }` or `{ call: [name, arguments], content }` for a request. */
function saidTo({ messages, tools = [] }, proposals) {
  const names = tools.map((tool) => tool.function?.name);
  const textOf = ({ content }) => (Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : (content ?? ""));
  if (names.includes("persist_artifact")) {
    const next = proposals.shift() ?? ["no_op", { task: 2, why: "The answer to the question is not there yet." }];
    return { call: next };
  }
  if (names.includes("list_scripts")) {
    const last = messages.findLastIndex(({ role }) => role === "user");
    const [, calls, end] = PLANS.toReversed().find(([words]) => words.test(textOf(messages[last]))) ?? PLANS[0];
    const done = messages.slice(last).filter(({ role }) => role === "tool").length;
    if (done < calls.length) return { call: calls[done], content: done === 0 ? "First I look at what is there." : "Now I try it." };
    return { content: end };
  }
  if (names.includes("write_capability")) {
    const last = messages.findLastIndex(({ role }) => role === "user");
    const [, call, end] = TALKS.find(([words]) => words.test(textOf(messages[last]))) ?? [];
    if (!call) return { content: "Ready." };
    return messages.slice(last).some(({ role }) => role === "tool") ? { content: end } : { call, content: "I look." };
  }
  const all = messages.map(textOf).join("\n");
  if (/complexity/.test(all)) return { content: judgement(/execute_script/.test(textOf(messages.at(-1))) ? "high" : "low") };
  return { content: "Ready." };
}

function answer(response, { stream }, { call, content = null }) {
  const calls = call && [{ index: 0, id: "call_1", type: "function", function: { name: call[0], arguments: JSON.stringify(call[1]) } }];
  const why = call ? "tool_calls" : "stop";
  const usage = { prompt_tokens: 900, completion_tokens: 60, total_tokens: 960 };
  const base = { id: "a", created: 0, model: "scripted" };
  if (!stream) {
    const message = { role: "assistant", content, ...(calls && { tool_calls: calls }) };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ...base, object: "chat.completion", choices: [{ index: 0, message, finish_reason: why }], usage }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const say = (more) => response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", ...more })}\n\n`);
  say({ choices: [{ index: 0, delta: { role: "assistant", content, ...(calls && { tool_calls: calls }) }, finish_reason: null }] });
  say({ choices: [{ index: 0, delta: {}, finish_reason: why }] });
  say({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , file] = process.argv;
  const { address } = await startScriptedModel();
  writeFileSync(`${file}.part`, address);
  renameSync(`${file}.part`, file);
}
