INSERT INTO v1_requests (conversation_id, turn_id, accepted_sequence, asked, told, instructions, stated, key, created_at) VALUES
    (2, 5, 1, '\x01', NULL, '\x02', TRUE, '\x03', '2026-11-02T08:00Z');
