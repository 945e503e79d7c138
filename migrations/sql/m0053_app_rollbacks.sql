-- Rollbacks of apps.
--
-- Moves of apps to another of their versions. The list of an app's versions shows the latest.
CREATE TABLE app_rollbacks (
    id $uuid PRIMARY KEY,
    app_id $uuid NOT NULL REFERENCES apps (id),
    workspace_id $uuid NOT NULL REFERENCES workspaces (id),
    moved_at bigint NOT NULL,
    moved_by $uuid NOT NULL,
    from_version_id $uuid NOT NULL,
    to_version_id $uuid NOT NULL
);
CREATE INDEX app_rollbacks_by_app ON app_rollbacks (app_id, id);
