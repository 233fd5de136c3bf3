// The full world's events, one of its turns step by step, and its settings.

import { events, models, policy, replay, servers, settings, tools } from "../site-fixtures.mjs";

/** The answers by path. */
export const siteAnswers = () => ({
  "/api/events": events("Count the books", null),
  "/api/replay/turns/1": replay("Count the books"),
  "/api/policy/builder": policy("builder", "qwen3"),
  "/api/policy/mcp": policy("mcp", "qwen3"),
  "/api/settings": { settings: settings("./data") },
  "/api/models": models("llama3"),
  "/api/rates": { rates: { llama3: { input_micros: 100_000, output_micros: 400_000 } } },
  "/api/mcp": { servers: servers("files") },
  "/api/mcp/files/tools": tools("files"),
});
