-- A person can speak into a turn that runs. Such a message belongs to that turn from the moment it is accepted, and is shown to the model
-- from its next step on; until then no answer ends the turn.

ALTER TABLE messages
    -- True for what was sent into a turn that had begun.
    ADD COLUMN steered BOOLEAN NOT NULL DEFAULT FALSE,
    -- The id a client gave it; makes accepting it idempotent. A turn's first message has its id in `turns`.
    ADD COLUMN client_id TEXT,
    -- The number of the step that was the first to be shown it; its place is before that step. NULL: none was yet.
    ADD COLUMN from_step INTEGER,
    ADD CONSTRAINT messages_steered CHECK (
        CASE WHEN steered THEN role = 'user' ELSE client_id IS NULL AND from_step IS NULL END);
CREATE UNIQUE INDEX messages_client_id ON messages (conversation_id, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX messages_unseen ON messages (turn_id) WHERE steered AND from_step IS NULL;
