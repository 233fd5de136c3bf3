-- The operator: its messages go by the outbox of Relay without an instance (ADR 61), and what it remembers between tasks is one document (ADR 62).

-- One queue: the operator has its main conversation and no other.
CREATE UNIQUE INDEX conversations_one_operator ON conversations (profile) WHERE profile = 'operator';

-- A message of ours that belongs to no instance belongs to a conversation.
ALTER TABLE relay_messages ALTER COLUMN instance_id DROP NOT NULL;
ALTER TABLE relay_messages ADD COLUMN conversation_id BIGINT REFERENCES conversations ON DELETE CASCADE;
ALTER TABLE relay_messages ADD CHECK ((instance_id IS NULL) = (conversation_id IS NOT NULL));
-- What is said about the same thing is said once.
CREATE UNIQUE INDEX relay_messages_said_once ON relay_messages (conversation_id, key) WHERE conversation_id IS NOT NULL;
-- A file that arrives at a phone of the test channel.
ALTER TABLE loopback_messages ADD COLUMN media JSONB;

-- The operator's memory between tasks.
CREATE TABLE operator_context (
    context_id BIGINT PRIMARY KEY CHECK (context_id = 1),
    version INTEGER NOT NULL CHECK (version > 0),
    document JSONB NOT NULL CHECK (jsonb_typeof(document) = 'object'),
    updated_at TIMESTAMPTZ NOT NULL
);

-- The document's limits; `level3 operator` writes those of its config.json.
INSERT INTO profile_policies (profile, mode, governor, budgets, updated_at) VALUES ('operator', 'smart', TRUE,
    '{"turn": {"steps": 40, "wall_seconds": 300, "tokens": 50000, "tool_calls": null}}', '2026-11-25T00:00:00Z') ON CONFLICT DO NOTHING;
