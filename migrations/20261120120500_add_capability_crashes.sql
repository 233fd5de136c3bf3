-- Calls of capabilities in whose middle the process ended. A version with three of them is disabled: it may be what ends the process.
CREATE TABLE capability_crashes (
    tool_call_id BIGINT NOT NULL REFERENCES tool_calls,
    -- The attempt: a call that is run again after a crash can crash again.
    fence BIGINT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (tool_call_id, fence),
    FOREIGN KEY (name, version) REFERENCES capability_versions
);
CREATE INDEX capability_crashes_of_version ON capability_crashes (name, version);
