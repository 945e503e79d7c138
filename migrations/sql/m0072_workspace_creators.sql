-- People who created workspaces.
--
-- Who created a workspace, so that a person creates a bounded number of them. Null: created by an earlier release.
ALTER TABLE workspaces ADD COLUMN created_by $uuid;
CREATE INDEX workspaces_by_creator ON workspaces (created_by) WHERE created_by IS NOT NULL;
