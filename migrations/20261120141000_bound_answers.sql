-- A client of /v1 may bound what the model writes. It is kept with the request, so that a turn that is taken up again keeps to it too.
ALTER TABLE v1_requests
    -- The most tokens of each step of the turn.
    ADD COLUMN answer_tokens INTEGER CHECK (answer_tokens > 0);
