-- A conversation tells which others go on from it: they are found without reading all conversations.
CREATE INDEX conversations_by_branch ON conversations (branch_of) WHERE branch_of IS NOT NULL;
