-- Rows in every state there was.
INSERT INTO conversations (conversation_id, is_main, last_sequence, created_at) VALUES (1, TRUE, 4, '2026-11-01T08:00Z'), (2, FALSE, 0, '2026-11-01T09:00Z');
INSERT INTO turns (turn_id, conversation_id, origin, client_id, state, fence, lease_owner, lease_until, reason, created_at, ended_at) VALUES
    (1, 1, 'message', 'm1', 'completed', 1, NULL, NULL, NULL, '2026-11-01T08:00Z', '2026-11-01T08:01Z'),
    (2, 1, 'message', NULL, 'failed', 2, NULL, NULL, 'the model is not there', '2026-11-01T08:02Z', '2026-11-01T08:03Z'),
    (3, 1, 'task', NULL, 'awaiting_approval', 1, NULL, NULL, NULL, '2026-11-01T08:04Z', NULL),
    (4, 1, 'message', 'm4', 'queued', 0, NULL, NULL, NULL, '2026-11-01T08:05Z', NULL),
    (5, 2, 'message', 'm1', 'running', 3, 'a', '2026-11-01T09:05Z', NULL, '2026-11-01T09:00Z', NULL),
    (6, 2, 'message', NULL, 'aborted', 1, NULL, NULL, NULL, '2026-11-01T09:01Z', '2026-11-01T09:02Z');
INSERT INTO steps (step_id, turn_id, number, model, finish_reason, input_tokens, output_tokens, created_at) VALUES
    (1, 1, 1, 'm', 'tool_calls', 100, 10, '2026-11-01T08:00Z'), (2, 1, 2, 'm', 'stop', NULL, NULL, '2026-11-01T08:01Z'),
    (3, 3, 1, 'm', 'tool_calls', 7, 1, '2026-11-01T08:04Z'), (4, 5, 1, 'm', 'tool_calls', 7, 1, '2026-11-01T09:01Z');
INSERT INTO tool_calls (tool_call_id, turn_id, step_id, position, request_id, name, arguments, state, logs, created_at, ended_at) VALUES
    (1, 1, 1, 0, 'a', 'execute_sql', '{"query": "SELECT 1"}', 'done', '[]', '2026-11-01T08:00Z', '2026-11-01T08:01Z'),
    (2, 1, 1, 1, 'b', 'adder', '{"a": 1', 'failed', '["a line"]', '2026-11-01T08:00Z', '2026-11-01T08:01Z'),
    (3, 3, 3, 0, 'a', 'write_capability', '{}', 'proposed', '[]', '2026-11-01T08:04Z', NULL),
    (4, 5, 4, 0, 'a', 'adder', '{}', 'proposed', '[]', '2026-11-01T09:01Z', NULL);
INSERT INTO messages (conversation_id, turn_id, role, content, step_id, tool_call_id, created_at) VALUES
    (1, 1, 'user', 'hello', NULL, NULL, '2026-11-01T08:00Z'), (1, 1, 'assistant', '', 1, NULL, '2026-11-01T08:00Z'),
    (1, 1, 'tool', '[{"n":1}]', NULL, 1, '2026-11-01T08:01Z'), (1, 1, 'assistant', 'Grüße 🦀', 2, NULL, '2026-11-01T08:01Z');
INSERT INTO capability_versions VALUES
    ('adder', 1, 'Adds.', 'javascript', 'export default () => 1', '{}', '{}', '[]', '\x00', 'aa', '1', '2026-11-01T08:00Z'),
    ('echo', 1, 'Echoes.', 'wat', '(component)', '{}', '{"log": {}}', '[{"params": {}}]', '\x01', 'bb', '1', '2026-11-01T08:00Z');
INSERT INTO capabilities VALUES ('adder', 1, 'installed', '2026-11-01T08:00Z', '2026-11-01T08:00Z'), ('echo', 1, 'disabled', '2026-11-01T08:00Z', '2026-11-01T08:01Z');
INSERT INTO tasks (task_id, conversation_id, title, details, status, due_at, fired_due_at, created_at, updated_at) VALUES
    (1, 1, 'fired', '', 'pending', '2026-11-01T08:04Z', '2026-11-01T08:04Z', '2026-11-01T08:00Z', '2026-11-01T08:00Z'),
    (2, 1, 'to come', 'by noon', 'in_progress', '2026-12-01T08:00Z', NULL, '2026-11-01T08:00Z', '2026-11-01T08:00Z'),
    (3, 2, 'done', '', 'done', NULL, NULL, '2026-11-01T08:00Z', '2026-11-01T08:00Z'), (4, 2, 'dropped', '', 'cancelled', NULL, NULL, '2026-11-01T08:00Z', '2026-11-01T08:00Z');
INSERT INTO approvals (approval_id, turn_id, tool_call_id, proposal_sha256, shown, state, decided_by, channel, reason, expires_at, created_at, decided_at) VALUES
    (1, 1, 1, '\x01', '{"tool": "execute_sql"}', 'approved', 'user', 'page', NULL, '2026-11-02T08:00Z', '2026-11-01T08:00Z', '2026-11-01T08:01Z'),
    (2, 1, 2, '\x02', '{}', 'denied', 'user', 'page', 'no', '2026-11-02T08:00Z', '2026-11-01T08:00Z', '2026-11-01T08:01Z'),
    (3, 3, 3, '\x03', '{}', 'pending', NULL, NULL, NULL, '2026-12-02T08:00Z', '2026-11-01T08:04Z', NULL),
    (4, 5, 4, '\x04', '{}', 'expired', NULL, 'clock', NULL, '2026-11-01T09:02Z', '2026-11-01T09:01Z', '2026-11-01T09:02Z');
INSERT INTO events (conversation_id, sequence, kind, payload, created_at) VALUES
    (1, 1, 'turn_queued', '{"kind": "turn_queued", "turn": 1, "content": "hello"}', '2026-11-01T08:00Z'),
    (1, 2, 'step_answered', '{"kind": "step_answered", "turn": 1, "step": 1}', '2026-11-01T08:00Z'),
    (1, 3, 'tool_call_ended', '{"kind": "tool_call_ended", "turn": 1, "call": 1}', '2026-11-01T08:01Z'),
    (1, 4, 'tasks_fired', '{"kind": "tasks_fired", "tasks": [1, 99], "turn": 3}', '2026-11-01T08:04Z'),
    (2, 1, 'capability_installed', '{"kind": "capability_installed", "name": "adder", "version": 1}', '2026-11-01T08:00Z');
INSERT INTO audit_entries (turn_id, tool_call_id, tool, proposal_sha256, verdict, outcome, created_at) VALUES
    (1, 1, 'execute_sql', '\x01', 'allow', 'done', '2026-11-01T08:01Z'), (1, 2, 'adder', '\x02', 'deny', 'failed', '2026-11-01T08:01Z');
INSERT INTO server_keys VALUES ('sql_token', '\x0102');
