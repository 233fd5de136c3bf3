-- A server that holds turns gives a sign of life every two seconds, and the others count their own looks at it. So no clock of one
-- server is compared with that of another, and a renewal is one small row for each server, not one for each turn. A row comes with the
-- first sign and stays: there are as many as there were data folders.
CREATE TABLE servers (
    owner TEXT PRIMARY KEY,
    signs BIGINT NOT NULL
);

COMMENT ON COLUMN turns.lease_owner IS 'the server that holds a running turn; NULL once it was given back';
COMMENT ON COLUMN turns.lease_until IS 'of a turn that was given back: it may be taken up from then on';
