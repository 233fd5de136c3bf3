INSERT INTO attachments VALUES (repeat('a', 64), 'image/png', '\x89', '2026-11-02T08:00Z');
INSERT INTO messages (conversation_id, turn_id, role, content, steered, client_id, from_step, images, created_at) VALUES
    (1, 1, 'user', 'and this', TRUE, 's1', 2, '[{"sha256": "aa", "size": 1, "media_type": "image/png"}]', '2026-11-01T08:01Z');
