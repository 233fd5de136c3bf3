-- Calls by Vapi: its own id of a call, what was said in one last, and what of its messages came already, so that a message that comes again
-- counts once.

ALTER TABLE voice_calls
    ADD COLUMN vapi_id TEXT,
    -- How many messages of the person the model's side has brought, and the last of them.
    ADD COLUMN vapi_said INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN vapi_heard TEXT,
    -- The report of its end was counted then.
    ADD COLUMN reported_at TIMESTAMPTZ;

-- Signatures and tool calls that came. They are needed for as long as the call's secrets live.
CREATE TABLE voice_seen (
    voice_call_id BIGINT NOT NULL REFERENCES voice_calls ON DELETE CASCADE,
    what TEXT NOT NULL,
    PRIMARY KEY (voice_call_id, what)
);
