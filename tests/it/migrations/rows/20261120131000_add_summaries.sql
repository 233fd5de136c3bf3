INSERT INTO summaries (conversation_id, turn_id, up_to_turn, content, model, input_tokens, output_tokens, cost_micros, created_at) VALUES
    (1, 3, 2, 'They spoke.', 'm', 7, 1, NULL, '2026-11-02T08:00Z'), (1, 3, 2, NULL, 'm', NULL, NULL, NULL, '2026-11-02T08:00Z');
