-- A person looks events up by their kind, the newest first, in all conversations.
CREATE INDEX events_by_kind ON events (kind, position);
