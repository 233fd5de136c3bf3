INSERT INTO mcp_clients VALUES ('Editor', '2026-11-02T08:00Z');
INSERT INTO mcp_conversations VALUES (2, 'Editor');
INSERT INTO mcp_calls VALUES (5, 'Editor', '\x01', NULL), (6, 'Editor', '\x01', '2026-11-02T08:00Z');
