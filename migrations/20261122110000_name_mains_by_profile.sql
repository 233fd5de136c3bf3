-- Each profile that a person talks with has a main conversation of its own; there was one in all.
DROP INDEX conversations_one_main;
CREATE UNIQUE INDEX conversations_one_main ON conversations (profile) WHERE is_main;
