INSERT INTO message_counts VALUES (1, '2026-11-01', 99);
