-- Turns of tasks have a limit for each hour, so that tasks that make tasks do not use up everything while nobody is there. Here stands when the
-- person was last told in a conversation that its tasks wait.
ALTER TABLE conversations ADD COLUMN tasks_held_at TIMESTAMPTZ;
CREATE INDEX turns_of_tasks ON turns (created_at) WHERE origin = 'task';
