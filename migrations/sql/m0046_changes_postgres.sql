-- Events that are about no app, for those who have a role.
--
-- Events without `app_id` are those of changes: older programs skip them. Their audience is who views an app, members
-- with at least a role (0 is the owner, 4 a viewer), or one of them.
ALTER TABLE workspace_events ALTER COLUMN app_id DROP NOT NULL;
ALTER TABLE workspace_events ADD COLUMN audience_app_id $uuid;
ALTER TABLE workspace_events ADD COLUMN audience_role smallint;
ALTER TABLE workspace_events ADD COLUMN audience_user_id $uuid;
