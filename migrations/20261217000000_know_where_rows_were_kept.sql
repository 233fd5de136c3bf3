-- The numbers of kept tables and columns mean something only in the database in which they were kept: a restore gives others. There, and
-- where nothing is said of it, kept rows go by names.
CREATE FUNCTION kept_home() RETURNS TEXT
LANGUAGE sql STABLE SET search_path = level3, pg_temp AS $$
    SELECT system_identifier || '.' || 'kept_tables'::regclass::oid FROM pg_control_system()
$$;
ALTER TABLE kept_tables ADD COLUMN home TEXT;
ALTER TABLE kept_tables ALTER COLUMN home SET DEFAULT kept_home();
