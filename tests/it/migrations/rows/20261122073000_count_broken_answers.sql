INSERT INTO broken_answers (turn_id, model, input_tokens, output_tokens, counted, created_at) VALUES (2, 'm', 700, 30, TRUE, '2026-11-01T08:03Z');
