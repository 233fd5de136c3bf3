-- A person finds conversations again: by the title they gave, by a word, by what was pinned, archived or taken from the list.
ALTER TABLE conversations
    -- A person's own title; without one the first message is shown.
    ADD COLUMN title TEXT,
    ADD COLUMN pinned_at TIMESTAMPTZ,
    ADD COLUMN archived_at TIMESTAMPTZ,
    -- It is out of the list and the search until something happens in it again. What was recorded stays.
    ADD COLUMN deleted_at TIMESTAMPTZ;

-- `left`: the longest message would make more lexemes than Postgres can keep in one value. `simple` knows no language and drops no word.
CREATE INDEX messages_by_word ON messages USING gin (to_tsvector('simple', left(content, 100000))) WHERE role IN ('user', 'assistant');
