-- Tools that a server lists and that cannot be offered are told to whoever asks what it listed last, also after a restart.
ALTER TABLE mcp_servers ADD COLUMN left_out JSONB NOT NULL DEFAULT '{}';
