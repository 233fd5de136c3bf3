INSERT INTO voice_calls (voice_call_id, user_id, conversation_id, adapter, state, started_at, beat_at, counted_at, limit_at, ended_at, reason) VALUES
    (1, 1, 1, 'browser', 'idle', '2026-11-01T08:00Z', '2026-11-01T08:01Z', '2026-11-01T08:01Z', NULL, '2026-11-01T08:01Z', 'hung_up'),
    (2, 1, 1, 'browser', 'active', '2026-11-01T08:02Z', '2026-11-01T08:03Z', '2026-11-01T08:03Z', '2026-11-01T09:00Z', NULL, NULL);
INSERT INTO voice_seconds VALUES (1, 1, '2026-11', 60), (2, 1, '2026-11', 55);
