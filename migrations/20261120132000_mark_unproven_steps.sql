-- An answer that claims what nothing recorded in its turn shows is taken back once, and then shown with a mark: both are said of its step.
ALTER TABLE steps ADD COLUMN unproven BOOLEAN NOT NULL DEFAULT FALSE;
