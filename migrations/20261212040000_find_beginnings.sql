-- A cut turn, and each beginning of a call, looks for the newest beginning in its conversation; ordinary chats have none, and their whole stream was
-- read to see that.
CREATE INDEX events_of_beginnings ON events (conversation_id, sequence) WHERE kind = 'call_begun';
-- Each load of a campaign's state reads the newest lines of its audit. Cycles in which no model answers add events, and no line.
CREATE INDEX events_of_audits ON events (conversation_id, sequence)
    WHERE kind IN ('tool_call_ended', 'proposal_refused', 'script_ran', 'page_read', 'page_touched');
-- The list of conversations makes a title of the first words that a person said. A conversation in which only tasks fell due has none.
CREATE INDEX turns_of_persons ON turns (conversation_id, turn_id) WHERE origin IN ('message', 'command');
CREATE INDEX messages_steered_in ON messages (conversation_id, message_id) WHERE steered;
