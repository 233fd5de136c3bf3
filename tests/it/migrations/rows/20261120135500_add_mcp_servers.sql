INSERT INTO mcp_servers VALUES ('far', '{"url": "https://far.example/mcp"}', '2026-11-02T08:00Z');
INSERT INTO mcp_tools (tool, server, name, description, parameters, sha256) VALUES ('far__add', 'far', 'add', 'Adds.', '{}', 'aa');
