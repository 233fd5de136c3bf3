INSERT INTO timers (user_id, conversation_id, state, minutes, task_id, ends_at, left_ms) VALUES (1, 1, 'running', 25, 2, '2026-11-01T08:30Z', NULL);
INSERT INTO last_named VALUES (1, 2, 7);
UPDATE tasks SET subtasks = '[{"id": 7, "title": "shop", "completed": true}]', remind_at = '2026-12-01T07:00Z',
    recurrence = '{"rule": "weekly", "zone": "Europe/Rome", "start": "2026-12-01T09:00:00", "date": "2026-12-01T08:00:00Z"}' WHERE task_id = 2;
