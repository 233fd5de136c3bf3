-- A person's orders, a used approval, and operations in every state.
INSERT INTO turns (turn_id, conversation_id, origin, state, created_at, ended_at) VALUES (7, 1, 'command', 'completed', '2026-11-02T08:00Z', '2026-11-02T08:01Z');
UPDATE approvals SET used_at = '2026-11-01T08:01Z', client_id = 'word-1' WHERE approval_id = 1;
UPDATE tool_calls SET classification = '{"risk": "low"}' WHERE tool_call_id = 1;
INSERT INTO profile_policies VALUES ('builder', 'ask', TRUE, '{"day": {"steps": 100}}', '2026-11-02T08:00Z');
INSERT INTO tool_rules VALUES ('builder', 'restart', 'never', '2026-11-02T08:00Z');
INSERT INTO model_rates VALUES ('m', 2500000, 10000000, '2026-11-02T08:00Z');
INSERT INTO secrets VALUES ('API_KEY', '\x0a', '2026-11-02T08:00Z', '2026-11-02T08:00Z');
INSERT INTO kv_entries VALUES ('adder', 'count', '1', '2026-11-02T08:00Z');
INSERT INTO operations (tool_call_id, ordinal, power, class, request_sha256, request, state, answer, created_at, ended_at) VALUES
    (2, 1, 'http', 'K', '\x01', '{"url": "https://a.example/"}', 'done', '200', '2026-11-01T08:00Z', '2026-11-01T08:01Z'),
    (2, 2, 'sql', 'T', '\x02', '{}', 'failed', 'no', '2026-11-01T08:00Z', '2026-11-01T08:01Z'),
    (2, 3, 'tools', 'N', '\x03', '{}', 'unknown', NULL, '2026-11-01T08:00Z', '2026-11-01T08:01Z'),
    (4, 1, 'kv', 'T', '\x04', '{}', 'intended', NULL, '2026-11-01T09:01Z', NULL);
INSERT INTO events (conversation_id, sequence, kind, payload, created_at) VALUES
    (2, 2, 'operation_recorded', '{"kind": "operation_recorded", "call": 2, "ordinal": 1, "state": "done"}', '2026-11-01T08:01Z'),
    (2, 3, 'approval_decided', '{"kind": "approval_decided", "approval": 1}', '2026-11-01T08:01Z');
UPDATE conversations SET last_sequence = 3 WHERE conversation_id = 2;
