-- Other agents call capabilities over MCP. Each client has conversations of its own, and a call that was not answered yet is found again
-- when the client asks the same once more: a restart, a lost connection or an approval in between does nothing twice.
CREATE TABLE mcp_clients (
    -- As the client calls itself, shortened. No proof of anything: whoever may come in at the door may choose it.
    name TEXT PRIMARY KEY,
    created_at TIMESTAMPTZ NOT NULL
);

-- More than one only while calls of the client wait for a person: the others must not queue behind those.
CREATE TABLE mcp_conversations (
    conversation_id BIGINT PRIMARY KEY REFERENCES conversations,
    client TEXT NOT NULL REFERENCES mcp_clients
);
CREATE INDEX mcp_conversations_of_client ON mcp_conversations (client, conversation_id);

CREATE TABLE mcp_calls (
    turn_id BIGINT PRIMARY KEY REFERENCES turns,
    client TEXT NOT NULL REFERENCES mcp_clients,
    -- Fingerprint of tool and arguments.
    key BYTEA NOT NULL,
    -- When the client was given the outcome. The same call is a new one from then on.
    delivered_at TIMESTAMPTZ
);
CREATE UNIQUE INDEX mcp_calls_open ON mcp_calls (client, key) WHERE delivered_at IS NULL;
