INSERT INTO conversations (conversation_id, profile, created_at) VALUES (73, 'campaign', '2026-12-01T08:00Z');
INSERT INTO campaigns (conversation_id, name, status, cycles, idle_cycles, bad_answers, carried, cycles_left, created_at, updated_at)
VALUES (73, 'One cycle', 'active', 0, 0, 0, '[]', 1, '2026-12-01T08:00Z', '2026-12-01T08:00Z');
