-- Servers of other people's tools. An operator adds them; what they say of their tools is a stranger's word, and is kept so that a change
-- is noticed.
CREATE TABLE mcp_servers (
    name TEXT PRIMARY KEY,
    -- How it is reached. Secrets stand in it by their names, never by their values.
    transport JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

-- A definition's number is never given twice: an approval is bound to it, so one of an earlier definition allows nothing.
CREATE SEQUENCE mcp_definitions AS INTEGER;

CREATE TABLE mcp_tools (
    -- As models call it.
    tool TEXT PRIMARY KEY,
    server TEXT NOT NULL REFERENCES mcp_servers ON DELETE CASCADE,
    -- As the server calls it.
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    parameters JSONB NOT NULL,
    -- Fingerprint of name, description and parameters exactly as the server gave them.
    sha256 TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT nextval('mcp_definitions'),
    -- False while the server does not list it. The row stays, so that it cannot come back as something else unnoticed.
    listed BOOLEAN NOT NULL DEFAULT TRUE,
    -- When the definition became another than the one first listed.
    changed_at TIMESTAMPTZ
);
CREATE INDEX mcp_tools_of_server ON mcp_tools (server);
