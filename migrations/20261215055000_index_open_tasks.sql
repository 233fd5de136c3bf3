-- A task that is written has the open ones of its person counted, of which there are 1,000 at most: without this all that were ever
-- done were read for it.
CREATE INDEX open_tasks_of_user ON tasks (user_id) WHERE status IN ('pending', 'in_progress');
