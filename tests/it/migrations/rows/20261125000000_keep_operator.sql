INSERT INTO conversations (conversation_id, profile, is_main, created_at) VALUES (71, 'operator', TRUE, '2026-11-25T08:00Z');
INSERT INTO relay_messages (conversation_id, channel, contact, number, said_by, text, key, state, created_at)
VALUES (71, 'loopback', '+491701234568', 1, 'agent', 'Done.', 'end-1', 'queued', '2026-11-25T08:00Z');
INSERT INTO operator_context VALUES (1, 1, '{"project": "shop"}', '2026-11-25T08:00Z');
