-- To-dos by talking: a task gets subtasks, a reminder and a way to come round; a person gets a focus timer, and may say “it” of what was named last.

ALTER TABLE tasks
    -- [{id, title, completed}], in their order. They are read with their task always, and change it when they change: ADR 48.
    ADD COLUMN subtasks JSONB NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(subtasks) = 'array'),
    ADD COLUMN remind_at TIMESTAMPTZ,
    -- The reminder that was last given: each time reminds once, a changed one again.
    ADD COLUMN reminded_at TIMESTAMPTZ,
    -- {rule, zone, start, date}: the date that it has now, and how the next one follows.
    ADD COLUMN recurrence JSONB;
CREATE INDEX tasks_by_change ON tasks (user_id, updated_at DESC);
-- A subtask's number stays with it.
CREATE SEQUENCE subtask_numbers;

-- The subtasks as rows, for people who look.
CREATE VIEW subtasks AS
SELECT (s.subtask ->> 'id')::bigint AS subtask_id, t.task_id, t.user_id, s.subtask ->> 'title' AS title,
       (s.subtask ->> 'completed')::boolean AS completed, s.place::integer AS sort_order
FROM tasks t CROSS JOIN LATERAL jsonb_array_elements(t.subtasks) WITH ORDINALITY AS s (subtask, place);

-- A person's one timer. There is a row from its first start on.
CREATE TABLE timers (
    user_id BIGINT PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    -- The end is told where the timer was last touched.
    conversation_id BIGINT NOT NULL REFERENCES conversations ON DELETE CASCADE,
    state TEXT NOT NULL CHECK (state IN ('idle', 'running', 'paused')),
    minutes INTEGER,
    -- It may be gone.
    task_id BIGINT,
    ends_at TIMESTAMPTZ,
    left_ms BIGINT,
    CHECK ((state = 'idle') = (minutes IS NULL)),
    CHECK ((state = 'running') = (ends_at IS NOT NULL)),
    CHECK ((state = 'paused') = (left_ms IS NOT NULL))
);
CREATE TRIGGER guard_transitions BEFORE UPDATE OF state ON timers
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND OLD.state || ' → ' || NEW.state NOT IN (
        'idle → running', 'running → paused', 'running → idle', 'paused → running', 'paused → idle'))
    EXECUTE FUNCTION refuse_transition();

-- The task and the subtask that were named last, whichever character heard it.
CREATE TABLE last_named (
    user_id BIGINT PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    task_id BIGINT NOT NULL,
    subtask_id BIGINT
);

-- Reminders and ends of timers are due at a time, and ask no model. Whoever is disabled is woken by nothing, until they are let in again.
ALTER TABLE wake_ups DROP CONSTRAINT wake_ups_kind_check;
ALTER TABLE wake_ups ADD CONSTRAINT wake_ups_kind_check CHECK (kind IN ('task', 'approval', 'kept', 'reminder', 'timer'));
CREATE OR REPLACE VIEW to_come AS
SELECT 'task' AS kind, task_id AS subject, due_at AS at FROM tasks t
WHERE status IN ('pending', 'in_progress') AND due_at IS NOT NULL AND due_at IS DISTINCT FROM fired_due_at
  AND EXISTS (SELECT FROM users u WHERE u.id = t.user_id AND u.disabled_at IS NULL)
UNION ALL
SELECT 'approval', approval_id, expires_at FROM approvals WHERE state = 'pending'
UNION ALL
SELECT 'kept', kept_id, created_at + interval '720 hours' FROM kept_calls WHERE created_at IS NOT NULL
UNION ALL
SELECT 'reminder', task_id, remind_at FROM tasks t
WHERE status IN ('pending', 'in_progress') AND remind_at IS NOT NULL AND remind_at IS DISTINCT FROM reminded_at
  AND EXISTS (SELECT FROM users u WHERE u.id = t.user_id AND u.disabled_at IS NULL)
UNION ALL
SELECT 'timer', user_id, ends_at FROM timers WHERE state = 'running';
CREATE TRIGGER follow_reminder AFTER INSERT OR DELETE OR UPDATE OF status, remind_at, reminded_at ON tasks
    FOR EACH ROW EXECUTE FUNCTION follow_wake_up('reminder', 'task_id');
CREATE TRIGGER follow_wake_up AFTER INSERT OR DELETE OR UPDATE OF state, ends_at ON timers
    FOR EACH ROW EXECUTE FUNCTION follow_wake_up('timer', 'user_id');
CREATE FUNCTION follow_user() RETURNS TRIGGER
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
BEGIN
    DELETE FROM wake_ups w USING tasks t WHERE t.user_id = NEW.id AND w.kind IN ('task', 'reminder') AND w.subject = t.task_id;
    INSERT INTO wake_ups (kind, subject, at)
    SELECT c.kind, c.subject, c.at FROM to_come c JOIN tasks t ON t.task_id = c.subject
    WHERE t.user_id = NEW.id AND c.kind IN ('task', 'reminder');
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION follow_user() FROM PUBLIC;
CREATE TRIGGER follow_wake_ups AFTER UPDATE OF disabled_at ON users
    FOR EACH ROW WHEN ((NEW.disabled_at IS NULL) <> (OLD.disabled_at IS NULL)) EXECUTE FUNCTION follow_user();

-- A model's breakdown of the task that a call is about to make: kept before the task is made, so that it is never paid for twice. `[]`: no answer
-- could be used.
ALTER TABLE tool_calls ADD COLUMN breakdown JSONB;

-- A person begins anew: turns up to this one are no longer shown, sent or exported. The chain of events keeps them.
ALTER TABLE conversations
    ADD COLUMN anew_after BIGINT,
    -- The place of that in the stream.
    ADD COLUMN anew_sequence BIGINT;
