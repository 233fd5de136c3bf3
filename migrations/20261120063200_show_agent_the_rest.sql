-- What the agent's own login may see of the rest: read-only views, owned by the server's login, in a schema the agent cannot change.

CREATE VIEW shared.conversations AS SELECT conversation_id, profile, is_main, created_at FROM conversations;

CREATE VIEW shared.messages AS
SELECT message_id, conversation_id, turn_id, role, content, tool_call_id, created_at FROM messages;

CREATE VIEW shared.tasks AS
SELECT task_id AS id, conversation_id, title, details, status, due_at, created_at, updated_at FROM tasks;

CREATE VIEW shared.capabilities AS
SELECT c.name, c.version, c.state, v.description, v.language, v.source, v.parameters, v.grants, v.tests, v.sha256, c.created_at, c.updated_at
FROM capabilities c JOIN capability_versions v USING (name, version);

CREATE VIEW shared.audit_entries AS
SELECT audit_entry_id, turn_id, tool_call_id, tool, verdict, outcome, created_at FROM audit_entries;

DO $$
DECLARE
    v_agent CONSTANT TEXT := current_database() || '_agent';
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA shared TO %I', v_agent);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA shared TO %I', v_agent);
    EXECUTE format('GRANT EXECUTE ON FUNCTION shared.end_sql_call TO %I', v_agent);
END $$;
