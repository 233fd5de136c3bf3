-- A row's state changes only the way its state machine in `src/domain/machine` says, whatever statement or function writes it. A test of
-- the machines reads the ways from here; one that is to be new is a new migration with a trigger of the same name.

CREATE FUNCTION refuse_transition() RETURNS TRIGGER
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '%: no way leads from % to %', TG_TABLE_NAME, OLD.state, NEW.state USING ERRCODE = 'L3005';
END $$;
REVOKE ALL ON FUNCTION refuse_transition() FROM PUBLIC;

CREATE TRIGGER guard_transitions BEFORE UPDATE OF state ON turns
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND OLD.state || ' → ' || NEW.state NOT IN (
        'queued → running', 'queued → completed', 'queued → aborted',
        'running → awaiting_approval', 'running → completed', 'running → aborted', 'running → failed',
        'awaiting_approval → queued', 'awaiting_approval → aborted'))
    EXECUTE FUNCTION refuse_transition();

CREATE TRIGGER guard_transitions BEFORE UPDATE OF state ON tool_calls
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND OLD.state || ' → ' || NEW.state NOT IN (
        'proposed → done', 'proposed → failed'))
    EXECUTE FUNCTION refuse_transition();

CREATE TRIGGER guard_transitions BEFORE UPDATE OF state ON approvals
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND OLD.state || ' → ' || NEW.state NOT IN (
        'pending → approved', 'pending → denied', 'pending → expired', 'pending → void'))
    EXECUTE FUNCTION refuse_transition();

CREATE TRIGGER guard_transitions BEFORE UPDATE OF state ON operations
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND OLD.state || ' → ' || NEW.state NOT IN (
        'intended → done', 'intended → failed', 'intended → unknown'))
    EXECUTE FUNCTION refuse_transition();

-- A turn that is not over has no end, so statements that look for open turns name no state, and a new state needs no new index.
CREATE INDEX turns_unfinished ON turns (conversation_id, turn_id) WHERE ended_at IS NULL;
DROP INDEX turns_open;
