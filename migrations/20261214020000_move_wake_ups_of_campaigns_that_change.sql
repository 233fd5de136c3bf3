-- The end of each cycle writes the campaign's row, and looked its wake-up up anew. What a campaign is due for follows from its state and `next_at`
-- alone (`to_come`), so only a change of these moves its wake-up.
DROP TRIGGER follow_wake_up ON campaigns;
CREATE TRIGGER follow_wake_up AFTER INSERT OR DELETE ON campaigns
    FOR EACH ROW EXECUTE FUNCTION follow_wake_up('campaign', 'id');
CREATE TRIGGER follow_moved_wake_up AFTER UPDATE OF status, next_at ON campaigns
    FOR EACH ROW WHEN (OLD.status <> NEW.status OR OLD.next_at IS DISTINCT FROM NEW.next_at)
    EXECUTE FUNCTION follow_wake_up('campaign', 'id');
