INSERT INTO kept_calls (kept_id, room, tool_call_id, rows, bytes, created_at) VALUES (1, 1000, 1, 1, 10, '2026-11-01T08:01Z');
INSERT INTO kept_tables VALUES (1, 1259, '{1,2}', 'notes', '{id,body}');
INSERT INTO kept_rows (kept_id, ordinal, relation, old, new, total) VALUES (1, 1, 1259, '(1,a)', NULL, 10);
INSERT INTO kept_own VALUES (1, 1259);
UPDATE tool_calls SET undone_at = '2026-11-01T08:02Z' WHERE tool_call_id = 1;
