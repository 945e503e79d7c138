-- The app of each audit entry, and the index by which the history of an app is read.
--
-- The app that was changed, or that the changed object belongs to; null for other objects.
ALTER TABLE audit_log ADD COLUMN app_id $uuid;
CREATE INDEX audit_log_by_app ON audit_log (workspace_id, app_id, id) WHERE app_id IS NOT NULL;
