-- Versions of artifacts are only added. The trigger refused a change and a removal of rows, and let
-- the table be emptied at once. It is refused now in the same words, of a campaign with its tables,
-- too.
CREATE TRIGGER never_emptied BEFORE TRUNCATE ON artifacts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_artifact();

-- The program's own login, which owns the table, gives up the right to change and to remove rows.
-- It keeps the one to empty the table: a restore empties each before it fills it, with the triggers
-- switched off. An owner could give a right back to itself, so the triggers stay the fence. Nothing
-- removes a campaign; a program that did would need both rights back, for its keys, too.
REVOKE UPDATE, DELETE ON artifacts FROM CURRENT_USER;
