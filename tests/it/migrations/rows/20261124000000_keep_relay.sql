INSERT INTO conversations (conversation_id, profile, created_at) VALUES (70, 'contact', '2026-11-24T08:00Z');
INSERT INTO relay_contacts VALUES ('loopback', '+491701234567');
INSERT INTO relay_instances (conversation_id, channel, contact, objective, heartbeat_seconds, max_follow_ups, state, created_at, updated_at)
VALUES (70, 'loopback', '+491701234567', 'Arrange a viewing', 1800, 5, 'ACTIVE', '2026-11-24T08:00Z', '2026-11-24T08:00Z');
INSERT INTO relay_messages (instance_id, channel, contact, number, said_by, text, state, created_at)
SELECT instance_id, channel, contact, 1, 'agent', 'Hello', 'sent', created_at FROM relay_instances;
INSERT INTO relay_channels VALUES ('loopback', 'server', '2026-11-24T08:00Z', NULL);
INSERT INTO relay_strangers VALUES ('loopback', '+49••••67', '2026-11-24', 1);
INSERT INTO loopback_messages (address, mine, message_id, text, created_at) VALUES ('+491701234567', FALSE, 'a', 'Hello', '2026-11-24T08:00Z');
INSERT INTO relay_webhooks (url, with_text, created_at) VALUES ('https://hooks.example/relay', FALSE, '2026-11-24T08:00Z');
INSERT INTO relay_webhook_calls (webhook_id, body) SELECT webhook_id, '{}' FROM relay_webhooks;
