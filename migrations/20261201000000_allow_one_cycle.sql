-- A paused campaign may do so many cycles and is paused again; NULL: without a limit.
ALTER TABLE campaigns ADD COLUMN cycles_left INTEGER CHECK (cycles_left > 0);
