-- Each load of a campaign's state looks for its newest reading and touch of a page, and for the words of its last request. Most campaigns have no pages:
-- without this their whole stream is read to see that.
CREATE INDEX events_of_campaigns ON events (conversation_id, kind, sequence) WHERE kind IN ('page_read', 'page_touched', 'cycle_words');
