-- A person looks events up by their kind or their tool, the newest first, in all conversations. A turn without tools pays for the first alone.
CREATE INDEX events_by_kind ON events (kind, position);
CREATE INDEX events_by_tool
    ON events ((coalesce(payload ->> 'name', payload #>> '{request,name}', payload #>> '{shown,tool}')), position)
    WHERE kind IN ('tool_call_proposed', 'tool_call_ended', 'approval_requested', 'capability_installed', 'capability_changed');
