-- All that is due at a time stands in one table, so that one look finds it: due dates of tasks, ends of approvals, ends of what is kept. A later
-- kind (a reminder, a timer, a follow-up, a schedule) needs a line in `to_come` and a trigger, and no look of its own.
CREATE TABLE wake_ups (
    kind TEXT NOT NULL CHECK (kind IN ('task', 'approval', 'kept')),
    -- The task, the approval or the kept call.
    subject BIGINT NOT NULL,
    at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (kind, subject)
);
CREATE INDEX wake_ups_by_time ON wake_ups (at);

-- What the table follows from. A due date of an open task wakes once; an approval ends if nobody decides; what a call lost is kept 30 days.
CREATE VIEW to_come AS
SELECT 'task' AS kind, task_id AS subject, due_at AS at FROM tasks
WHERE status IN ('pending', 'in_progress') AND due_at IS NOT NULL AND due_at IS DISTINCT FROM fired_due_at
UNION ALL
SELECT 'approval', approval_id, expires_at FROM approvals WHERE state = 'pending'
UNION ALL
SELECT 'kept', kept_id, created_at + interval '720 hours' FROM kept_calls WHERE created_at IS NOT NULL;

INSERT INTO wake_ups (kind, subject, at) SELECT kind, subject, at FROM to_come;

-- Keeps the table in step, in the transaction that changes the row: no statement can forget to. So whoever settles a wake-up, or makes it
-- needless, takes it away by what is recorded; that row is locked, so it happens once.
CREATE FUNCTION follow_wake_up() RETURNS TRIGGER
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_kind CONSTANT TEXT := TG_ARGV[0];
    v_subject BIGINT;
BEGIN
    IF TG_OP = 'DELETE' THEN
        EXECUTE format('SELECT ($1).%I', TG_ARGV[1]) INTO v_subject USING OLD;
    ELSE
        EXECUTE format('SELECT ($1).%I', TG_ARGV[1]) INTO v_subject USING NEW;
    END IF;
    DELETE FROM wake_ups w WHERE w.kind = v_kind AND w.subject = v_subject
        AND NOT EXISTS (SELECT FROM to_come t WHERE t.kind = v_kind AND t.subject = v_subject);
    INSERT INTO wake_ups (kind, subject, at) SELECT kind, subject, at FROM to_come WHERE kind = v_kind AND subject = v_subject
    ON CONFLICT (kind, subject) DO UPDATE SET at = EXCLUDED.at WHERE wake_ups.at <> EXCLUDED.at;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION follow_wake_up() FROM PUBLIC;

CREATE TRIGGER follow_wake_up AFTER INSERT OR DELETE OR UPDATE OF status, due_at, fired_due_at ON tasks
    FOR EACH ROW EXECUTE FUNCTION follow_wake_up('task', 'task_id');
CREATE TRIGGER follow_wake_up AFTER INSERT OR DELETE OR UPDATE OF state, expires_at ON approvals
    FOR EACH ROW EXECUTE FUNCTION follow_wake_up('approval', 'approval_id');
CREATE TRIGGER follow_wake_up AFTER DELETE OR UPDATE OF created_at ON kept_calls
    FOR EACH ROW EXECUTE FUNCTION follow_wake_up('kept', 'kept_id');
