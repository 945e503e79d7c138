-- Deletion of workspaces and backend projects.
--
-- Deletion of workspaces and backend projects: who and when, and when their data began to be purged, after which they
-- can no longer be restored. All NULL for one that is not deleted.
ALTER TABLE workspaces ADD COLUMN deleted_at bigint;
ALTER TABLE workspaces ADD COLUMN deleted_by $uuid;
ALTER TABLE workspaces ADD COLUMN purge_started_at bigint;
CREATE INDEX workspaces_deleted ON workspaces (deleted_at) WHERE deleted_at IS NOT NULL;

ALTER TABLE backend_projects ADD COLUMN deleted_at bigint;
ALTER TABLE backend_projects ADD COLUMN deleted_by $uuid;
ALTER TABLE backend_projects ADD COLUMN purge_started_at bigint;
CREATE INDEX backend_projects_deleted ON backend_projects (deleted_at) WHERE deleted_at IS NOT NULL;
