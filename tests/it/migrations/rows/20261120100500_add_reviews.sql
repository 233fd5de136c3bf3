INSERT INTO reviews (tool_call_id, turn_id, model, input_tokens, output_tokens, cost_micros, created_at) VALUES (1, 1, 'm', 200, NULL, 13, '2026-11-02T08:00Z');
