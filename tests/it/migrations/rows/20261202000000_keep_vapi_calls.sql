INSERT INTO voice_calls (voice_call_id, user_id, conversation_id, adapter, state, started_at, beat_at, counted_at, limit_at, ended_at, reason, vapi_id, vapi_said, vapi_heard, reported_at) VALUES
    (3, 1, 1, 'vapi', 'idle', '2026-11-02T08:00Z', '2026-11-02T08:01Z', '2026-11-02T08:01Z', NULL, '2026-11-02T08:01Z', 'hung_up', '7420f27a-30fd-4f49-a995-5549ae7cc00d', 2, 'go ahead', '2026-11-02T08:01Z');
INSERT INTO voice_seen VALUES (3, 'signature 00ff'), (3, 'tool toolu_01');
